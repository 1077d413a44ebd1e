/**
 * Stands between clients and a server. It can let connections go silent, so that neither side hears anything, not even an
 * end, and it can cut one in the middle of what a client says, or after the server has done it and before the client hears.
 */
import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import type { Socket } from 'node:net'

interface Link {
  readonly client: Socket
  readonly server: Socket
  /** Says what ends the link; until then the client hears nothing of what the server answers. */
  isAnswer?: (bytes: Buffer) => boolean
}

/** Something that a client says, as it can be told from the bytes. */
export interface Request {
  /** Where it stands in what a client sends at once, if it is there. */
  readonly find: (bytes: Buffer) => number | undefined
  readonly isAnswer: (bytes: Buffer) => boolean
}

export interface Cut {
  readonly request: Request
  /** In front of its first byte, or behind its answer, of which the client gets nothing. */
  readonly place: 'before' | 'after'
}

export interface Relay extends AsyncDisposable {
  readonly port: number
  /** How many connections were cut. */
  readonly cutCount: number
  /** From now on nothing passes over the connections that are open. New ones work. Says how many fell silent. */
  silence(): number
  /** The next connection over which a client says this is cut, and only that one. */
  cutNext(cut: Cut): void
}

class OpenRelay implements Relay {
  readonly #to: { readonly host: string; readonly port: number }
  readonly #links = new Set<Link>()
  readonly #silent = new Set<Link>()
  // Otherwise the system would answer an end for those that are silent.
  readonly #listener = createServer({ allowHalfOpen: true }, (client) => this.#join(client))
  #cut: Cut | undefined
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
    const link: Link = { client, server: connect({ host, port, allowHalfOpen: true }) }
    this.#links.add(link)
    client.on('data', (bytes) => this.#ask(link, bytes))
    link.server.on('data', (bytes) => this.#answer(link, bytes))
    this.#endTogether(link, client, link.server)
    this.#endTogether(link, link.server, client)
  }

  #ask(link: Link, bytes: Buffer): void {
    if (this.#silent.has(link)) return
    const at = this.#cut?.request.find(bytes)
    if (this.#cut === undefined || at === undefined) {
      link.server.write(bytes)
      return
    }
    const { place, request } = this.#cut
    this.#cut = undefined
    if (place === 'after') {
      link.isAnswer = request.isAnswer
      link.server.write(bytes)
      return
    }
    link.server.write(bytes.subarray(0, at))
    this.#end(link)
  }

  #answer(link: Link, bytes: Buffer): void {
    if (this.#silent.has(link)) return
    if (link.isAnswer === undefined) link.client.write(bytes)
    else if (link.isAnswer(bytes)) this.#end(link)
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
