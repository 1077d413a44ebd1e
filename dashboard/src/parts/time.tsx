/** Instants and durations. The page uses the clock of its own machine for what is relative. */
import { useSyncExternalStore } from 'react'

const SECOND = 1_000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

/** `820 ms`, `12 s`, `3 min 20 s`, `2 h 5 min`, `4 d 3 h`. */
export function durationText(ms: number): string {
  const given = Math.max(0, ms)
  if (given < SECOND) return `${Math.round(given)} ms`
  if (given < 10 * SECOND) return `${(given / SECOND).toFixed(1)} s`
  if (given < MINUTE) return `${Math.floor(given / SECOND)} s`
  if (given < HOUR) return pair(given, MINUTE, 'min', SECOND, 's')
  if (given < DAY) return pair(given, HOUR, 'h', MINUTE, 'min')
  return pair(given, DAY, 'd', HOUR, 'h')
}

function pair(ms: number, unit: number, name: string, below: number, nameBelow: string): string {
  const rest = Math.floor((ms % unit) / below)
  return `${Math.floor(ms / unit)} ${name}${rest === 0 ? '' : ` ${rest} ${nameBelow}`}`
}

export function instantText(at: number): string {
  return new Date(at).toISOString().replace('T', ' ').replace('Z', ' UTC')
}

const clock = { now: Date.now(), listeners: new Set<() => void>(), timer: undefined as number | undefined }

function onTick(listener: () => void): () => void {
  clock.listeners.add(listener)
  if (clock.timer === undefined) {
    // Nothing has moved the clock since the last listener left.
    clock.now = Date.now()
    clock.timer = window.setInterval(() => {
      clock.now = Date.now()
      for (const each of clock.listeners) each()
    }, SECOND)
  }
  return () => {
    clock.listeners.delete(listener)
    if (clock.listeners.size > 0) return
    window.clearInterval(clock.timer)
    clock.timer = undefined
  }
}

/** The present, once in a second. One timer serves the whole page. */
export function useNow(): number {
  return useSyncExternalStore(onTick, () => clock.now)
}

/** How long ago, or until when; the full instant is its title. */
export function Moment({ at }: { readonly at: number }) {
  const now = useNow()
  const distance = now - at
  const text =
    Math.abs(distance) < SECOND
      ? 'now'
      : distance > 0
        ? `${durationText(distance)} ago`
        : `in ${durationText(-distance)}`
  return (
    <time dateTime={new Date(at).toISOString()} title={instantText(at)}>
      {text}
    </time>
  )
}

/** The time since an instant, until it ends. */
export function Elapsed({ from, to }: { readonly from: number; readonly to?: number | undefined }) {
  const now = useNow()
  return <span className="number">{durationText((to ?? now) - from)}</span>
}
