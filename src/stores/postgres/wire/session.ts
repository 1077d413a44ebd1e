/** Runs statements one by one on one connection, for checks, migrations and tests. */
export type Row = Readonly<Record<string, unknown>>

export interface Session {
  /** 64-bit integers are returned as numbers, bytes as `Buffer`. */
  readonly query: (text: string, values?: readonly unknown[]) => Promise<readonly Row[]>
}

/** Quotes the schema of a location, whose characters need no escape. */
export function quoted(schema: string): string {
  return `"${schema}"`
}
