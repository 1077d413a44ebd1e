import { pino } from 'pino'
import type { Log } from '../runtime/index.ts'
import { EngineError } from '../kernel/engine-error.ts'
import { show } from '../client/checks/names.ts'

const LEVELS = ['debug', 'info', 'warn', 'error', 'silent'] as const

export type LogLevel = (typeof LEVELS)[number]

/** Creates a log that writes JSON lines to standard error. Ids and codes are logged, payloads and secrets never. */
export function createLog(level: LogLevel): Log {
  if (!LEVELS.includes(level)) {
    throw new EngineError('invalid_configuration', {
      field: 'log',
      message: `log is ${show(level)}, but must be a logger or one of ${LEVELS.join(', ')}.`,
    })
  }
  return pino({ level, base: null, timestamp: pino.stdTimeFunctions.isoTime }, pino.destination({ fd: 2, sync: true }))
}
