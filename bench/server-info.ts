/** The `INFO` of a Valkey server. */
import type { Server } from '../test/servers/server.ts'

export class ServerInfo {
  readonly #fields: ReadonlyMap<string, string>

  constructor(text: string) {
    const lines = text.split('\r\n').filter((line) => line.includes(':'))
    this.#fields = new Map(lines.map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1)]))
  }

  number(name: string): number {
    const value = this.#fields.get(name)
    if (value === undefined) throw new Error(`The server reports no ${name}.`)
    return Number(value)
  }

  /** Fields whose names begin with a prefix, by the rest of the name. Their values are lists such as `calls=1,usec=2`. */
  lists(prefix: string): [string, ReadonlyMap<string, number>][] {
    return [...this.#fields]
      .filter(([name]) => name.startsWith(prefix))
      .map(([name, value]) => [name.slice(prefix.length), new Map(value.split(',').map(parsePair))])
  }
}

export async function readInfo(server: Server, sections: readonly string[]): Promise<ServerInfo> {
  return new ServerInfo(String(await server.call('INFO', ...sections)))
}

function parsePair(text: string): [string, number] {
  const [name = '', value = ''] = text.split('=')
  return [name, Number(value)]
}
