/** Formats times: ISO 8601 in UTC, and relative to now. */

const UNITS: readonly { readonly name: string; readonly ms: number }[] = [
  { name: 'd', ms: 86_400_000 },
  { name: 'h', ms: 3_600_000 },
  { name: 'm', ms: 60_000 },
  { name: 's', ms: 1_000 },
]

export function isoTime(at: number): string {
  return new Date(at).toISOString()
}

/** Formats the two largest units: `2d 3h`, `1m 30s`; below a second, milliseconds. */
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
