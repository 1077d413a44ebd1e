/** Parsers of flag values. Each error names the flag. */
import { eventTypes, publicStates } from '../../kernel/index.ts'
import type { EventType, PublicState } from '../../kernel/index.ts'
import { checkTagName, invalidInput, parseDuration, show } from '../../client/index.ts'
import type { RetryOptions } from '../../client/index.ts'
import { dropUndefined } from './drop-undefined.ts'

/** Collects the values of a flag that can be repeated. */
export function collect(value: string, earlier: readonly string[] = []): string[] {
  return [...earlier, value]
}

export function parseInteger(text: string, flag: string): number {
  if (!/^-?\d{1,15}$/.test(text)) throw invalidInput(flag, `${flag} is ${show(text)}, but must be a whole number.`)
  return Number(text)
}

export function parseTag(text: string, flag = '--tag'): { readonly name: string; readonly value: string } {
  const equals = text.indexOf('=')
  if (equals === -1) throw invalidInput(flag, `${flag} is ${show(text)}, but must be of the form name=value.`)
  return { name: checkTagName(text.slice(0, equals), flag), value: text.slice(equals + 1) }
}

export function parseTags(texts: readonly string[], flag = '--tag'): Record<string, string> {
  const tags: Record<string, string> = {}
  for (const { name, value } of texts.map((text) => parseTag(text, flag))) {
    if (Object.hasOwn(tags, name)) throw invalidInput(flag, `${flag} gives the tag ${show(name)} twice.`)
    tags[name] = value
  }
  return tags
}

export function parseState(text: string): PublicState {
  return oneOf(publicStates, text, '--state')
}

export function parseEventType(text: string): EventType {
  return oneOf(eventTypes, text, '--type')
}

export function oneOf<T extends string>(known: readonly T[], text: string, flag: string): T {
  const found = known.find((value) => value === text)
  if (found === undefined) throw invalidInput(flag, `${flag} is ${show(text)}, but must be one of ${known.join(', ')}.`)
  return found
}

/** `fixed`, `fixed:30s`, `exponential`, `exponential:1s` or `exponential:1s:5m` (first wait, longest wait). */
export function parseBackoff(text: string): NonNullable<RetryOptions['backoff']> {
  const [kind, ...times] = text.split(':')
  const [first, longest] = times.map((time) => parseDurationFlag(time, '--backoff'))
  if (kind === 'fixed' && times.length <= 1) return first === undefined ? 'fixed' : { kind, delay: first }
  if (kind === 'exponential' && times.length <= 2) return { kind, ...dropUndefined({ initial: first, max: longest }) }
  throw invalidInput(
    '--backoff',
    `--backoff is ${show(text)}, but must be fixed[:wait] or exponential[:first wait[:longest wait]], such as fixed:30s or exponential:1s:5m.`,
  )
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
  throw invalidInput(
    flag,
    `${flag} is ${show(text)}, but must be how long ago, such as 30m or 2d, or a time such as 2026-01-31T12:00:00Z.`,
  )
}
