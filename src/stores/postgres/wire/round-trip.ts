/**
 * Statements that travel together, and what they answer. One that fails ends them: the server leaves out those behind it
 * and answers them with nothing. The connection is not used again then, since nobody knows which of them are prepared.
 */
import type { Connection, CustomTypesConfig, Submittable } from 'pg'
import type { MessageWriter, Parameter } from './message-writer.ts'

export interface Statement {
  /** The same for the same text: under it the server keeps what it has prepared. */
  readonly name: string
  readonly text: string
  readonly values?: readonly Parameter[] | undefined
}

/** What a statement answers: rows as lists of their columns, and what was done. */
export interface StatementReply {
  readonly rows: readonly (readonly unknown[])[]
  readonly command: string
}

type Parser = (text: string) => unknown
type TypeId = Parameters<CustomTypesConfig['getTypeParser']>[0]

/** What a connection knows of a statement that it has prepared: how to read the columns of its rows. */
export interface Prepared {
  columns: readonly Parser[]
}

interface Reply {
  readonly prepared: Prepared
  readonly rows: unknown[][]
  command: string
}

interface Options {
  /** Its memory is free again once all is answered: then the server has read everything. */
  readonly writer: MessageWriter
  /** By their names. Left out, every statement is prepared for this one time. */
  readonly prepared: Map<string, Prepared> | undefined
  readonly types: CustomTypesConfig
  readonly callback: (error: Error | null, replies?: readonly StatementReply[]) => void
}

const NO_VALUES: readonly Parameter[] = []

/** What the client library asks of somebody who speaks with the server through it. */
export class RoundTrip implements Submittable {
  /** The client library puts one of its own around it. */
  callback: Options['callback']
  readonly #statements: readonly Statement[]
  readonly #writer: MessageWriter
  readonly #known: Map<string, Prepared> | undefined
  readonly #types: CustomTypesConfig
  readonly #replies: Reply[] = []
  #answered = 0
  #failure: Error | undefined

  constructor(statements: readonly Statement[], { writer, prepared, types, callback }: Options) {
    this.#statements = statements
    this.#writer = writer
    this.#known = prepared
    this.#types = types
    this.callback = callback
  }

  /** What cannot be written is answered and not thrown: the client library then ends what it has begun. */
  submit(connection: Connection): Error | undefined {
    const writer = this.#writer
    try {
      writer.reset()
      for (const statement of this.#statements) this.#write(writer, statement)
      writer.sync()
    } catch (error) {
      return error as Error
    }
    connection.stream.write(writer.written())
    return undefined
  }

  #write(writer: MessageWriter, { name, text, values = NO_VALUES }: Statement): void {
    const ownName = this.#known === undefined ? '' : name
    let prepared = this.#known?.get(name)
    if (prepared === undefined) {
      prepared = { columns: [] }
      writer.parse(ownName, text)
      writer.describe(ownName)
      this.#known?.set(name, prepared)
    }
    writer.bind(ownName, values)
    writer.execute()
    this.#replies.push({ prepared, rows: [], command: '' })
  }

  handleRowDescription({ fields }: { readonly fields: readonly { readonly dataTypeID: TypeId }[] }): void {
    const reply = this.#replies[this.#answered]
    if (reply === undefined) return
    reply.prepared.columns = fields.map(({ dataTypeID }) => this.#types.getTypeParser(dataTypeID, 'text') as Parser)
  }

  handleDataRow({ fields }: { readonly fields: (string | null)[] }): void {
    const reply = this.#replies[this.#answered]
    if (reply === undefined) return
    const { columns } = reply.prepared
    const row: unknown[] = fields
    try {
      for (let i = 0; i < fields.length; i++) {
        const text = fields[i]
        const parse = columns[i]
        if (typeof text === 'string' && parse !== undefined) row[i] = parse(text)
      }
      reply.rows.push(row)
    } catch (error) {
      this.#failure ??= error as Error
    }
  }

  handleCommandComplete({ text }: { readonly text: string }): void {
    const reply = this.#replies[this.#answered]
    if (reply !== undefined) reply.command = text.split(' ', 1)[0] ?? ''
    this.#answered += 1
  }

  handleError(error: Error): void {
    this.callback(error)
  }

  handleReadyForQuery(): void {
    if (this.#failure === undefined) this.callback(null, this.#replies)
    else this.callback(this.#failure)
  }
}

/** Bytes of the server without the methods of a buffer, which no other store's bytes have. */
export function bytesOf({ buffer, byteOffset, byteLength }: Buffer): Uint8Array {
  return new Uint8Array(buffer, byteOffset, byteLength)
}
