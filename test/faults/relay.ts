/** Stands between clients and a server, and can let connections go silent: neither side hears anything, not even an end. */
import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import type { Socket } from 'node:net'

interface Link {
  readonly client: Socket
  readonly server: Socket
}

export interface Relay extends AsyncDisposable {
  readonly port: number
  /** From now on nothing passes over the connections that are open. New ones work. Says how many fell silent. */
  silence(): number
}

export async function startRelay(to: { readonly host: string; readonly port: number }): Promise<Relay> {
  const links = new Set<Link>()
  const silent = new Set<Link>()
  const listener = createServer((client) => {
    const link: Link = { client, server: connect(to.port, to.host) }
    links.add(link)
    pass(link, 'client', 'server')
    pass(link, 'server', 'client')
  })

  const pass = (link: Link, from: keyof Link, to: keyof Link): void => {
    link[from].on('data', (bytes) => {
      if (!silent.has(link)) link[to].write(bytes)
    })
    link[from].on('error', () => undefined)
    link[from].on('close', () => {
      if (silent.has(link)) return
      links.delete(link)
      link[to].destroy()
    })
  }

  listener.listen(0, '127.0.0.1')
  await once(listener, 'listening')
  const address = listener.address()
  if (address === null || typeof address === 'string') throw new Error('The relay has no port.')
  return {
    port: address.port,
    silence: () => {
      for (const link of links) silent.add(link)
      return silent.size
    },
    async [Symbol.asyncDispose]() {
      for (const { client, server } of links) {
        client.destroy()
        server.destroy()
      }
      listener.close()
      await once(listener, 'close')
    },
  }
}
