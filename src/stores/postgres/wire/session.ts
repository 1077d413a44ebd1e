/** One statement after the other on one connection: what a check, a migration or a test needs, and no more. */
export type Row = Readonly<Record<string, unknown>>

export interface Session {
  /** Numbers of 64 bits come as numbers, bytes as `Buffer`. */
  readonly query: (text: string, values?: readonly unknown[]) => Promise<readonly Row[]>
}

/** Quotes the schema of a location, whose characters need no escape. */
export function quoted(schema: string): string {
  return `"${schema}"`
}
