/** Readers of what is typed behind a flag. Each names the flag in its error. */
import { eventTypes, publicStates } from '../../kernel/index.ts'
import type { EventType, PublicState } from '../../kernel/index.ts'
import { checkTagName, invalidInput, show } from '../../client/index.ts'
import type { RetryOptions } from '../../client/index.ts'
import { defined } from './drop-undefined.ts'
import { parseDurationFlag } from '../text/time-text.ts'

/** For flags that may be given more than once. */
export function collect(value: string, earlier: readonly string[] = []): string[] {
  return [...earlier, value]
}

export function parseInteger(text: string, flag: string): number {
  if (!/^-?\d{1,15}$/.test(text)) throw invalidInput(flag, `${flag} is ${show(text)}, but must be a whole number.`)
  return Number(text)
}

export function parseTag(text: string): { readonly name: string; readonly value: string } {
  const equals = text.indexOf('=')
  if (equals === -1) throw invalidInput('--tag', `--tag is ${show(text)}, but must be of the form name=value.`)
  return { name: checkTagName(text.slice(0, equals), '--tag'), value: text.slice(equals + 1) }
}

export function parseTags(texts: readonly string[]): Record<string, string> {
  const tags: Record<string, string> = {}
  for (const { name, value } of texts.map(parseTag)) {
    if (Object.hasOwn(tags, name)) throw invalidInput('--tag', `--tag gives the tag ${show(name)} twice.`)
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
  if (kind === 'exponential' && times.length <= 2) return { kind, ...defined({ initial: first, max: longest }) }
  throw invalidInput(
    '--backoff',
    `--backoff is ${show(text)}, but must be fixed[:wait] or exponential[:first wait[:longest wait]], such as fixed:30s or exponential:1s:5m.`,
  )
}
