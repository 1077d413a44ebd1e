/** Where a program says what it is doing. Ids, counts and codes go in; payloads and secrets never do. */

export type LogFields = Readonly<Record<string, unknown>>

/** Fields first, for machines; then a sentence, for people. A log never throws. */
export interface Log {
  debug(fields: LogFields, message: string): void
  info(fields: LogFields, message: string): void
  warn(fields: LogFields, message: string): void
  error(fields: LogFields, message: string): void
}

function say(): void {
  // Nobody listens.
}

/** For programs that say nothing, and for tests. */
export const silentLog: Log = { debug: say, info: say, warn: say, error: say }

/** An error as the fields of a log line. */
export function errorFields(error: unknown): { readonly error: string; readonly stack?: string } {
  if (!(error instanceof Error)) return { error: String(error) }
  const described = `${error.name}: ${error.message}`
  return error.stack === undefined ? { error: described } : { error: described, stack: error.stack }
}
