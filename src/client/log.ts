import { pino } from 'pino'
import type { Log } from '../runtime/index.ts'

export type LogLevel = 'debug' | 'info' | 'warn' | 'error' | 'silent'

/** Lines of JSON on standard error. Ids and codes go in, payloads and secrets never. */
export function createLog(level: LogLevel): Log {
  return pino({ level, base: null, timestamp: pino.stdTimeFunctions.isoTime }, pino.destination({ fd: 2, sync: true }))
}
