/**
 * Stands between clients and a server. It can silence connections, so that neither side receives anything, not even an
 * end. It can cut one in the middle of a request, after the server has done it and before the client gets the answer, or in
 * the middle of the answer. And it can hold back a request until a test has done something else.
 */
import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import type { Socket } from 'node:net'

interface Link {
  readonly client: Socket
  readonly server: Socket
  /** Ends the link when its answer comes; until then the client receives nothing of what the server answers. */
  cut?: Cut
  /** What the server has answered meanwhile. */
  answered: Buffer
  /** Bytes of the client that are not sent to the server yet. */
  held?: Buffer[] | undefined
}

/** A request, as it is recognised from the bytes. */
export interface Request {
  /** Where it stands in what a client sends at once, if it is there. */
  readonly find: (bytes: Buffer) => number | undefined
  /** Where its answer begins in what the server has answered, if it is there. */
  readonly findAnswer: (bytes: Buffer) => number | undefined
}

export interface Cut {
  readonly request: Request
  /**
   * In front of its first byte; before its answer, after those to earlier requests; or after its answer, so that
   * the client gets nothing of either.
   */
  readonly place: 'before' | 'before_answer' | 'after'
}

export interface Relay extends AsyncDisposable {
  readonly port: number
  /** How many connections were cut. */
  readonly cutCount: number
  /** From now on nothing passes over the connections that are open. New ones work. Returns how many fell silent. */
  silence(): number
  /** Cuts the next connection that sends this request, and only that one. */
  cutNext(cut: Cut): void
  /** Holds back a client's bytes from this request on, once. Resolves when that has happened, with a function that ends it. */
  holdNext(request: Request): Promise<() => void>
}

class OpenRelay implements Relay {
  readonly #to: { readonly host: string; readonly port: number }
  readonly #links = new Set<Link>()
  readonly #silent = new Set<Link>()
  // Otherwise the system would answer an end for those that are silent.
  readonly #listener = createServer({ allowHalfOpen: true }, (client) => this.#join(client))
  #cut: Cut | undefined
  #hold: { readonly request: Request; readonly onHeld: (release: () => void) => void } | undefined
  #port = 0
  cutCount = 0

  constructor(to: { readonly host: string; readonly port: number }) {
    this.#to = to
  }

  get port(): number {
    return this.#port
  }

  async open(): Promise<void> {
    this.#listener.listen(0, '127.0.0.1')
    await once(this.#listener, 'listening')
    const address = this.#listener.address()
    if (address === null || typeof address === 'string') throw new Error('The relay has no port.')
    this.#port = address.port
  }

  silence(): number {
    for (const link of this.#links) this.#silent.add(link)
    return this.#silent.size
  }

  cutNext(cut: Cut): void {
    this.#cut = cut
  }

  holdNext(request: Request): Promise<() => void> {
    const { promise, resolve } = Promise.withResolvers<() => void>()
    this.#hold = { request, onHeld: resolve }
    return promise
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const { client, server } of this.#links) {
      client.destroy()
      server.destroy()
    }
    this.#listener.close()
    await once(this.#listener, 'close')
  }

  #join(client: Socket): void {
    const { host, port } = this.#to
    const link: Link = { client, server: connect({ host, port, allowHalfOpen: true }), answered: Buffer.alloc(0) }
    this.#links.add(link)
    client.on('data', (bytes) => this.#ask(link, bytes))
    link.server.on('data', (bytes) => this.#answer(link, bytes))
    this.#endTogether(link, client, link.server)
    this.#endTogether(link, link.server, client)
  }

  #ask(link: Link, bytes: Buffer): void {
    if (this.#silent.has(link)) return
    if (link.held !== undefined) link.held.push(bytes)
    else if (!this.#holdsBack(link, bytes) && !this.#cutsOff(link, bytes)) link.server.write(bytes)
  }

  #holdsBack(link: Link, bytes: Buffer): boolean {
    const at = this.#hold?.request.find(bytes)
    if (this.#hold === undefined || at === undefined) return false
    const { onHeld } = this.#hold
    this.#hold = undefined
    link.server.write(bytes.subarray(0, at))
    const held = [bytes.subarray(at)]
    link.held = held
    onHeld(() => {
      link.held = undefined
      for (const part of held) link.server.write(part)
    })
    return true
  }

  #cutsOff(link: Link, bytes: Buffer): boolean {
    const at = this.#cut?.request.find(bytes)
    if (this.#cut === undefined || at === undefined) return false
    const cut = this.#cut
    this.#cut = undefined
    if (cut.place === 'before') {
      link.server.write(bytes.subarray(0, at))
      this.#end(link)
    } else {
      link.cut = cut
      link.server.write(bytes)
    }
    return true
  }

  #answer(link: Link, bytes: Buffer): void {
    if (this.#silent.has(link)) return
    if (link.cut === undefined) {
      link.client.write(bytes)
      return
    }
    link.answered = Buffer.concat([link.answered, bytes])
    const at = link.cut.request.findAnswer(link.answered)
    if (at === undefined) return
    if (link.cut.place === 'before_answer') link.client.end(link.answered.subarray(0, at), () => this.#end(link))
    else this.#end(link)
  }

  #end(link: Link): void {
    this.cutCount += 1
    link.client.destroy()
    link.server.end()
  }

  #endTogether(link: Link, one: Socket, other: Socket): void {
    one.on('error', () => undefined)
    one.on('end', () => {
      if (!this.#silent.has(link)) other.end()
    })
    one.on('close', () => {
      if (this.#silent.has(link)) return
      this.#links.delete(link)
      other.destroy()
    })
  }
}

export async function startRelay(to: { readonly host: string; readonly port: number }): Promise<Relay> {
  const relay = new OpenRelay(to)
  await relay.open()
  return relay
}
