/** A server with the INFO that a test chooses, for servers that are no longer available. */
import { once } from 'node:events'
import { createServer } from 'node:net'
import type { AddressInfo, Server, Socket } from 'node:net'

const UNKNOWN = '-ERR unknown command\r\n'

export class FakeServer {
  readonly #server: Server
  readonly #sockets = new Set<Socket>()

  constructor(info: Readonly<Record<string, string>>) {
    const text = Object.entries(info)
      .map(([field, value]) => `${field}:${value}\r\n`)
      .join('')
    this.#server = createServer((socket) => {
      this.#sockets.add(socket)
      socket.on('error', () => undefined)
      socket.on('data', (data) => {
        for (const command of commandsIn(data.toString())) {
          socket.write(command === 'INFO' ? `$${text.length}\r\n${text}\r\n` : UNKNOWN)
        }
      })
    })
  }

  async start(): Promise<string> {
    this.#server.listen(0, '127.0.0.1')
    await once(this.#server, 'listening')
    return `valkey://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.#sockets) socket.destroy()
    this.#server.close()
    await once(this.#server, 'close')
  }
}

/** The first word of each command: a client sends short ones whole, one array of texts each. */
function commandsIn(data: string): string[] {
  return [...data.matchAll(/\*\d+\r\n\$\d+\r\n([^\r]+)/g)].map(([, word = '']) => word.toUpperCase())
}
