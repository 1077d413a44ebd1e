/** Times as people read them: ISO 8601 in UTC, and how far that is from now. */
import { EngineError } from '../../kernel/engine-error.ts'
import { parseDuration } from '../../client/index.ts'

const UNITS: readonly { readonly name: string; readonly ms: number }[] = [
  { name: 'd', ms: 86_400_000 },
  { name: 'h', ms: 3_600_000 },
  { name: 'm', ms: 60_000 },
  { name: 's', ms: 1_000 },
]

export function isoTime(at: number): string {
  return new Date(at).toISOString()
}

/** The two largest units: `2d 3h`, `1m 30s`; below a second, milliseconds. */
export function durationText(ms: number): string {
  const first = UNITS.findIndex((unit) => ms >= unit.ms)
  const unit = UNITS[first]
  if (unit === undefined) return `${Math.max(0, Math.round(ms))}ms`
  const next = UNITS[first + 1]
  const rest = next === undefined ? 0 : Math.floor((ms % unit.ms) / next.ms)
  const whole = `${Math.floor(ms / unit.ms)}${unit.name}`
  return next === undefined || rest === 0 ? whole : `${whole} ${rest}${next.name}`
}

export function relativeTime(at: number, now: number): string {
  if (at === now) return 'now'
  return at <= now ? `${durationText(now - at)} ago` : `in ${durationText(at - now)}`
}

export function timeText(at: number, now: number): string {
  return `${isoTime(at)} (${relativeTime(at, now)})`
}

/** A duration as typed: `30s`, `5m`, or a bare number of milliseconds. */
export function parseDurationFlag(text: string, flag: string, minimumMs = 0): number {
  return parseDuration(/^\d+$/.test(text) ? Number(text) : text, flag, minimumMs)
}

/** An instant as typed: how long ago (`2h`), or a date and time in ISO 8601. */
export function parseSince(text: string, flag: string, now: number): number {
  if (/^\d{4}-\d{2}-\d{2}/.test(text)) {
    const at = Date.parse(text)
    if (Number.isFinite(at)) return at
  } else if (/^\d+(\.\d+)?[a-z]+$/.test(text)) {
    return Math.max(0, now - parseDuration(text, flag))
  }
  throw new EngineError('invalid_input', {
    field: flag,
    message: `${flag} is ${JSON.stringify(text)}, but must be how long ago, such as 30m or 2d, or a time such as 2026-01-31T12:00:00Z.`,
  })
}
