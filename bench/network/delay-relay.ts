/**
 * Passes bytes between clients and a server and holds each piece back for a fixed time, in both directions. Keeps the order
 * of the bytes, sends every piece at once (no Nagle), and counts what passes.
 */
import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import type { Server, Socket } from 'node:net'

export interface RelayTarget {
  readonly host: string
  readonly port: number
  /** Milliseconds for which every piece is held back, each way. */
  readonly delayMs: number
}

export interface RelayCounts {
  readonly bytesToServer: number
  readonly bytesToClients: number
  /** Pieces that were held back, and for how long in all: timers and a busy machine add to the delay. */
  readonly heldCount: number
  readonly heldMs: number
}

interface Held {
  /** Undefined for the end of the stream. */
  readonly bytes: Buffer | undefined
  readonly at: number
}

export class DelayRelay {
  readonly #target: RelayTarget
  readonly #listener: Server
  #bytesToServer = 0
  #bytesToClients = 0
  #heldMs = 0
  #heldCount = 0

  constructor(target: RelayTarget) {
    this.#target = target
    this.#listener = createServer({ allowHalfOpen: true, noDelay: true }, (client) => this.#join(client))
  }

  /** Returns the port on which it accepts connections, on the loopback address. */
  async open(): Promise<number> {
    this.#listener.listen(0, '127.0.0.1')
    await once(this.#listener, 'listening')
    const address = this.#listener.address()
    if (address === null || typeof address === 'string') throw new Error('The relay has no port.')
    return address.port
  }

  get counts(): RelayCounts {
    return {
      bytesToServer: this.#bytesToServer,
      bytesToClients: this.#bytesToClients,
      heldCount: this.#heldCount,
      heldMs: this.#heldMs,
    }
  }

  #join(client: Socket): void {
    const { host, port } = this.#target
    const server = connect({ host, port, allowHalfOpen: true, noDelay: true })
    this.#pass(client, server, (count) => (this.#bytesToServer += count))
    this.#pass(server, client, (count) => (this.#bytesToClients += count))
  }

  #pass(from: Socket, to: Socket, count: (bytes: number) => void): void {
    const held: Held[] = []
    const hold = (bytes: Buffer | undefined): void => {
      held.push({ bytes, at: performance.now() })
      // Each timer delivers the oldest piece, so the order holds whatever the order of the timers.
      setTimeout(() => this.#deliver(held.shift(), from, to), this.#target.delayMs)
    }
    from.on('data', (bytes) => {
      count(bytes.length)
      hold(bytes)
    })
    from.on('end', () => hold(undefined))
    // An error is followed by the close.
    from.on('error', () => undefined)
    from.on('close', (hadError) => {
      if (hadError) to.destroy()
    })
  }

  #deliver(piece: Held | undefined, from: Socket, to: Socket): void {
    if (piece === undefined || to.destroyed) return
    this.#heldMs += performance.now() - piece.at
    this.#heldCount += 1
    if (piece.bytes === undefined) to.end()
    else if (!to.write(piece.bytes) && !from.isPaused()) {
      from.pause()
      to.once('drain', () => from.resume())
    }
  }
}
