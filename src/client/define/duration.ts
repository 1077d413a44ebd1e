import { DURATION_MAX_MS } from '../../kernel/limits.ts'
import { EngineError } from '../../kernel/engine-error.ts'
import { show } from '../checks/names.ts'

/** `'250ms'`, `'30s'`, `'5m'`, `'12h'`, `'7d'`, or a number of milliseconds. */
export type Duration = number | `${number}${'ms' | 's' | 'm' | 'h' | 'd'}`

const UNIT_MS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 }

/** Returns a duration in whole milliseconds. Refuses invalid values with an error that names the field. */
export function parseDuration(value: unknown, field: string, minimumMs = 0): number {
  const ms = typeof value === 'string' ? parseText(value) : value
  if (typeof ms !== 'number' || !Number.isFinite(ms)) {
    throw new EngineError('invalid_input', {
      field,
      message: `${field} is ${show(value)}, but must be milliseconds or a text such as '30s', '5m' or '7d'.`,
    })
  }
  if (ms < minimumMs || ms > DURATION_MAX_MS) {
    throw new EngineError('invalid_input', {
      field,
      message: `${field} is ${ms} ms, but must be from ${minimumMs} to ${DURATION_MAX_MS} ms.`,
    })
  }
  return Math.round(ms)
}

/** Returns the time from now until a date, in milliseconds; negative if the date has passed. */
export function msUntil(date: unknown, now: number, field: string): number {
  const at = date instanceof Date ? date.getTime() : Number.NaN
  if (!Number.isNaN(at)) return at - now
  throw new EngineError('invalid_input', { field, message: `${field} is ${show(date)}, but must be a valid Date.` })
}

function parseText(text: string): number | undefined {
  const match = /^(-?\d+(?:\.\d+)?)(ms|s|m|h|d)$/.exec(text.trim())
  const unit = UNIT_MS[match?.[2] ?? '']
  return match === null || unit === undefined ? undefined : Number(match[1]) * unit
}
