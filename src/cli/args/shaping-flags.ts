/** The flags that shape a submit: a key, and after commas what its kind needs. A key may contain commas itself. */
import { invalidInput } from '../../client/index.ts'
import type { SubmitOptions } from '../../client/index.ts'
import { dropUndefined } from './drop-undefined.ts'
import { oneOf, parseDurationFlag } from './flags.ts'

interface ShapingFlags {
  readonly debounce?: string
  readonly throttle?: string
  readonly singleton?: string
  readonly order?: string
}

type ShapingOptions = Pick<SubmitOptions, 'debounce' | 'throttle' | 'singleton' | 'order'>

const DURATION = /^-?\d+(\.\d+)?(ms|s|m|h|d)?$/

export function shapingFlags({ debounce, throttle, singleton, order }: ShapingFlags): ShapingOptions {
  return dropUndefined({
    debounce: debounce === undefined ? undefined : debounceOf(debounce),
    throttle: throttle === undefined ? undefined : throttleOf(throttle),
    singleton: singleton === undefined ? undefined : singletonOf(singleton),
    order: order === undefined ? undefined : orderOf(order),
  })
}

function debounceOf(text: string): SubmitOptions['debounce'] {
  const { key, last: end } = cut(text)
  const { key: start, last: wait } = cut(key)
  const form = '--debounce is the key and the wait, and perhaps the longest wait: document:17,5s,1m.'
  if (end === undefined || !DURATION.test(end)) throw invalidInput('--debounce', form)
  if (wait === undefined || !DURATION.test(wait)) return { key, wait: parseDurationFlag(end, '--debounce', 1) }
  return {
    key: start,
    wait: parseDurationFlag(wait, '--debounce', 1),
    max: parseDurationFlag(end, '--debounce', 1),
  }
}

function throttleOf(text: string): SubmitOptions['throttle'] {
  const { key, last } = cut(text)
  if (last === undefined) throw invalidInput('--throttle', '--throttle is the key and the period: account:17,1m.')
  return { key, every: parseDurationFlag(last, '--throttle', 1) }
}

function singletonOf(text: string): SubmitOptions['singleton'] {
  const { key, last } = cut(text)
  if (last === undefined) return { key: text }
  return { key, ifTaken: oneOf(['join', 'reject', 'replace'], last, '--singleton') }
}

function orderOf(text: string): SubmitOptions['order'] {
  const { key, last } = cut(text)
  if (last === undefined) return { key: text }
  return { key, onFailure: oneOf(['continue', 'block'], last, '--order') }
}

/** Splits a text at its last comma. */
function cut(text: string): { readonly key: string; readonly last: string | undefined } {
  const at = text.lastIndexOf(',')
  return at < 0 ? { key: text, last: undefined } : { key: text.slice(0, at), last: text.slice(at + 1) }
}
