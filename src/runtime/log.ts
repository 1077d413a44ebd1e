/** Structured logging. Fields contain ids, counts and codes, and never payloads or secrets. */

export type LogFields = Readonly<Record<string, unknown>>

/** Each line has fields for machines and a message for people. A log never throws. */
export interface Log {
  debug(fields: LogFields, message: string): void
  info(fields: LogFields, message: string): void
  warn(fields: LogFields, message: string): void
  error(fields: LogFields, message: string): void
}

function ignore(): void {
  // Discards the line.
}

/** Discards all lines. */
export const silentLog: Log = { debug: ignore, info: ignore, warn: ignore, error: ignore }

const METHODS = ['debug', 'info', 'warn', 'error'] as const

export function isLog(value: unknown): value is Log {
  if (typeof value !== 'object' || value === null) return false
  const methods = value as Readonly<Record<string, unknown>>
  return METHODS.every((method) => typeof methods[method] === 'function')
}

/** Wraps a log so that it never throws. */
export function nonThrowingLog(log: Log): Log {
  const write =
    (method: (typeof METHODS)[number]) =>
    (fields: LogFields, message: string): void => {
      try {
        log[method](fields, message)
      } catch {
        // A line that cannot be written is lost. The work that it describes must not fail.
      }
    }
  return { debug: write('debug'), info: write('info'), warn: write('warn'), error: write('error') }
}

/** Converts an error into the fields of a log line. */
export function errorFields(error: unknown): { readonly error: string; readonly stack?: string } {
  if (!(error instanceof Error)) return { error: String(error) }
  const described = `${error.name}: ${error.message}`
  return error.stack === undefined ? { error: described } : { error: described, stack: error.stack }
}
