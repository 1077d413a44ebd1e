/**
 * Statements that are sent together, and their replies. If one fails, the server skips the later ones. The connection
 * is not used again then, since it is unknown which of them were prepared.
 */
import type { Connection, CustomTypesConfig, Submittable } from 'pg'
import type { MessageWriter, Parameter } from './message-writer.ts'

export interface Statement {
  /** Identifies the text. The server prepares the statement under this name. */
  readonly name: string
  readonly text: string
  readonly values?: readonly Parameter[] | undefined
}

/** The reply to a statement: rows as lists of columns, and the command that ran. */
export interface StatementReply {
  readonly rows: readonly (readonly unknown[])[]
  readonly command: string
}

type Parser = (text: string) => unknown
type TypeId = Parameters<CustomTypesConfig['getTypeParser']>[0]

/** A prepared statement: the parsers of its columns. */
export interface Prepared {
  columns: readonly Parser[]
}

interface Reply {
  readonly prepared: Prepared
  readonly rows: unknown[][]
  command: string
}

interface Options {
  /** Its buffer is reused once all statements are answered: the server has read everything then. */
  readonly writer: MessageWriter
  /** Prepared statements by name. Left out, every statement is prepared for this one use. */
  readonly prepared: Map<string, Prepared> | undefined
  readonly types: CustomTypesConfig
  readonly callback: (error: Error | null, replies?: readonly StatementReply[]) => void
}

const NO_VALUES: readonly Parameter[] = []

/** Implements the query interface of `pg`, which calls these methods by name. */
export class RoundTrip implements Submittable {
  /** `pg` wraps this callback. */
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

  /** Returns an error of the writer instead of throwing: `pg` then fails the query. */
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

/** Returns the bytes as a plain Uint8Array, as other stores do. */
export function bytesOf({ buffer, byteOffset, byteLength }: Buffer): Uint8Array {
  return new Uint8Array(buffer, byteOffset, byteLength)
}
