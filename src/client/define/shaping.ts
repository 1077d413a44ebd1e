/** Options that combine the submits of one key, or hold their executions apart: at most one per submit. */
import { DEBOUNCE_MAX_FACTOR, SHAPING_WINDOW_MAX_MS } from '../../kernel/limits.ts'
import type { OrderFailure } from '../../kernel/model/records.ts'
import { oneOf, required, shape } from '../../options/shape.ts'
import type { Check } from '../../options/shape.ts'
import { checkKey, invalidInput } from '../checks/names.ts'
import { parseDuration } from './duration.ts'
import type { Duration } from './duration.ts'

export interface DebounceOptions {
  /** Submits of one task with the same key are combined. */
  readonly key: string
  /** The silence after which the execution starts, with the last input. */
  readonly wait: Duration
  /** How long after the first submit it starts at the latest, whether or not there is silence. 10 times `wait` unless given. */
  readonly max?: Duration
}

export interface ThrottleOptions {
  /** Submits of one task with the same key are combined. */
  readonly key: string
  /** For so long after a submit that has started an execution, further ones join it, even if it has ended. */
  readonly every: Duration
}

export interface SingletonOptions {
  /** At most one execution of a task with the same key runs. */
  readonly key: string
  /**
   * What to do while an earlier one has not ended: `join` returns it, `reject` refuses with `singleton_taken`, and `replace` gives
   * it this input if it has not started, and otherwise cancels it and starts this one after its end. `join` unless given.
   */
  readonly ifTaken?: 'join' | 'reject' | 'replace'
}

export interface OrderOptions {
  /** Executions with the same key run one after the other in the order of their submits, whatever their tasks. */
  readonly key: string
  /** Whether those after it wait for an operator if it fails: `continue` unless given. */
  readonly onFailure?: 'continue' | 'block'
}

/** At most one of these, and only without an `id`. */
export interface ShapingOptions {
  /** The last input wins, and starts after silence. */
  readonly debounce?: DebounceOptions
  /** The first submit of a period starts, and later ones join it. */
  readonly throttle?: ThrottleOptions
  /** At most one execution of the key has not ended. */
  readonly singleton?: SingletonOptions
  /** The executions of the key run one after the other. */
  readonly order?: OrderOptions
}

const WINDOW_MIN_MS = 1

const windowMs: Check<number> = (value, field) => {
  const ms = parseDuration(value, field, WINDOW_MIN_MS)
  if (ms <= SHAPING_WINDOW_MAX_MS) return ms
  throw invalidInput(field, `${field} is ${ms} ms, but must be at most ${SHAPING_WINDOW_MAX_MS} ms (30 days).`)
}

const debounce = shape<DebounceOptions>()("{ key: 'document:17', wait: '5s' }", {
  key: required(checkKey),
  wait: required(windowMs),
  max: windowMs,
})

const throttle = shape<ThrottleOptions>()("{ key: 'account:17', every: '1m' }", {
  key: required(checkKey),
  every: required(windowMs),
})

const singleton = shape<SingletonOptions>()("{ key: 'account:17', ifTaken: 'join' }", {
  key: required(checkKey),
  ifTaken: oneOf<'join' | 'reject' | 'replace'>({ join: true, reject: true, replace: true }),
})

const order = shape<OrderOptions>()("{ key: 'account:17' }", {
  key: required(checkKey),
  onFailure: oneOf<OrderFailure>({ continue: true, block: true }),
})

/** As the checks return them. */
export interface ParsedShaping {
  readonly debounce?: ReturnType<typeof debounce>
  readonly throttle?: ReturnType<typeof throttle>
  readonly singleton?: ReturnType<typeof singleton>
  readonly order?: ReturnType<typeof order>
}

export const shapingOptions = { debounce, throttle, singleton, order } satisfies Readonly<
  Record<keyof ShapingOptions, Check>
>

/** How a submit is shaped. The durations are in milliseconds. */
export type Shaping = { readonly key: string } & (
  | { readonly kind: 'debounce'; readonly waitMs: number; readonly maxMs: number }
  | { readonly kind: 'throttle'; readonly everyMs: number }
  | { readonly kind: 'singleton'; readonly ifTaken: 'join' | 'reject' | 'replace' }
  | { readonly kind: 'order'; readonly onFailure: OrderFailure }
)

/** The options of a submit that shaping does not go with. */
interface OtherOptions {
  readonly id?: unknown
  readonly ifExists?: unknown
  readonly dedupe?: unknown
  readonly delay?: unknown
  readonly tx?: unknown
}

/** Returns how a submit is shaped, if it is. Refuses options that contradict each other. */
export function shapingOf(options: ParsedShaping & OtherOptions): Shaping | undefined {
  const name = shapingNames.find((other) => options[other] !== undefined)
  if (name === undefined) return undefined
  const second = shapingNames.find((other) => other !== name && options[other] !== undefined)
  if (second !== undefined) {
    throw invalidInput(second, `${second} is given besides ${name}, but a submit has one of them at most.`)
  }
  refuseOthers(name, options)
  return parsedShaping(options)
}

export const shapingNames: readonly (keyof ShapingOptions)[] = ['debounce', 'throttle', 'singleton', 'order']

function refuseOthers(name: keyof ShapingOptions, options: OtherOptions): void {
  for (const other of ['id', 'ifExists', 'dedupe'] as const) {
    if (options[other] === undefined) continue
    const reason = 'its key decides which execution the submit starts or joins, and an id decides the same'
    throw invalidInput(other, `${other} is given besides ${name}: ${reason}. Leave one of them out.`)
  }
  if (name === 'debounce' && options.delay !== undefined) {
    throw invalidInput('delay', 'delay is given besides debounce, whose wait is the delay already. Leave delay out.')
  }
  if (name !== 'order' && options.tx !== undefined) {
    const reason = 'which execution the submit joins is known only after the commit'
    throw invalidInput('tx', `tx is given besides ${name}: ${reason}. Submit after the commit, or use order.`)
  }
}

function parsedShaping({ debounce: d, throttle: t, singleton: s, order: o }: ParsedShaping): Shaping | undefined {
  if (d !== undefined) {
    const { key, wait, max = Math.min(wait * DEBOUNCE_MAX_FACTOR, SHAPING_WINDOW_MAX_MS) } = d
    if (max >= wait) return { kind: 'debounce', key, waitMs: wait, maxMs: max }
    throw invalidInput('debounce.max', `debounce.max is ${max} ms, but must be at least debounce.wait, ${wait} ms.`)
  }
  if (t !== undefined) return { kind: 'throttle', key: t.key, everyMs: t.every }
  if (s !== undefined) return { kind: 'singleton', key: s.key, ifTaken: s.ifTaken ?? 'join' }
  return o === undefined ? undefined : { kind: 'order', key: o.key, onFailure: o.onFailure ?? 'continue' }
}
