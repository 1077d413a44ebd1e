/** What the routes take and return with which a worker over HTTP waits for signals and for children. */
import { z } from 'zod'
import { approval, callbackAt, signal, when } from '../../client/index.ts'
import type { ReceivedSignal, Vote, Waitable } from '../../client/index.ts'
import { CHILD_JOIN_MAX, CHILD_START_MAX, IDENTITY_BYTES, NAME_BYTES, STEP_NAME_BYTES } from '../../kernel/limits.ts'
import { anyJson, base64, duration, instant } from './common.ts'
import { drop } from './drop.ts'
import { leaseField } from './lease.ts'
import { workFields } from './submission-parts.ts'
import { valueFields } from './value.ts'
import { signalName } from './waitpoint.ts'

const VOTES_MAX = 1_000
const PARTS_MAX = 31

export const stepName = z
  .string()
  .min(1)
  .max(4 * STEP_NAME_BYTES)

export const waitpointKey = z.string().min(1).max(NAME_BYTES)

const senders = z
  .array(z.string().min(1).max(IDENTITY_BYTES))
  .min(1)
  .max(VOTES_MAX)
  .optional()
  .describe('The senders whose signals count. All unless given.')

const settings = {
  timeout: duration.optional().describe('How long to wait. Without a limit unless given.'),
  onTimeout: z
    .enum(['continue', 'continue_with_signal', 'fail', 'cancel', 'expire', 'escalate'])
    .optional()
    .describe('`continue` unless given: the handler gets an answer that is not ok.'),
  remind: duration.optional().describe('Emits an event at this interval while it waits.'),
  resumeDelay: duration.optional(),
}

const place = z.union([
  z.strictObject({ signal: signalName, from: senders }),
  z.strictObject({ waitpoint: waitpointKey }),
])
const places = z.array(place).min(1).max(PARTS_MAX)
const votes = z.int().min(1).max(VOTES_MAX)

export const wait = z
  .union([
    z.strictObject({ sleep: duration }).describe('Sleeps for a time.'),
    z
      .strictObject({ signal: signalName, from: senders, ...settings })
      .describe('Waits for a signal that is sent to the execution by its name.'),
    z
      .strictObject({
        approval: z.strictObject({
          need: votes.optional().describe('How many must approve; 1 unless given.'),
          of: senders,
          distinct: z.boolean().optional().describe('False counts several votes of one person.'),
          rejections: votes.optional().describe('How many rejections decide against it; 1 unless given.'),
          on: waitpointKey.optional().describe('The waitpoint of the votes. The wait opens one unless given.'),
        }),
        ...settings,
      })
      .describe('Waits until enough people have sent `approve`, or too many `reject`.'),
    z.strictObject({ waitpoint: waitpointKey }).describe('Waits for a signal to a waitpoint that was opened before.'),
    z.strictObject({ every: places, ...settings }).describe('Waits for all of several signals.'),
    z.strictObject({ either: places, ...settings }).describe('Waits for one of several signals.'),
    z
      .strictObject({
        count: votes,
        at: places,
        name: signalName.optional(),
        by: z.enum(['waitpoints', 'sources', 'signals']).optional().describe('`waitpoints` unless given.'),
        from: senders,
        ...settings,
      })
      .describe('Counts signals at several places.'),
    z.strictObject({ operator: z.literal(true), ...settings }).describe('Waits until an operator resumes it.'),
  ])
  .meta({ id: 'Wait' })

type Wait = Exclude<z.output<typeof wait>, { readonly sleep: unknown }>
type Place = z.output<typeof place>

/** Returns what a handler in a program would pass to `ctx.waitFor`. */
export function waitableOf(given: Wait): Waitable<WaitAnswer> {
  if ('signal' in given) {
    const { signal: name, ...options } = given
    return signal(name, drop(options))
  }
  if ('approval' in given) {
    const { approval: asked, ...options } = given
    const { on, ...rest } = asked
    return approval({ ...drop({ ...rest, ...options }), ...(on === undefined ? {} : { on: { key: on } }) })
  }
  if ('every' in given) {
    const { every, ...options } = given
    return when.every(every.map(partOf), drop(options))
  }
  if ('either' in given) {
    const { either, ...options } = given
    return when.either(either.map(partOf), drop(options))
  }
  if ('count' in given) {
    const { count, at, ...options } = given
    return when.count(count, at.map(partOf), drop(options))
  }
  if ('operator' in given) {
    const { operator: _, ...options } = given
    return when.operator(drop(options))
  }
  return callbackAt(given.waitpoint)
}

function partOf(part: Place) {
  return 'waitpoint' in part ? { key: part.waitpoint } : signal(part.signal, drop({ from: part.from }))
}

/** The answers of all waits. */
export interface WaitAnswer {
  readonly ok: boolean
  readonly reason?: string
  readonly at: number
  readonly value?: unknown
  readonly name?: string
  readonly by?: { readonly type: string; readonly identity: string }
  readonly note?: string | undefined
  readonly message?: string
  readonly signals?: readonly ReceivedSignal[]
  readonly votes?: readonly Vote[]
}

const sender = z.object({ type: z.string(), identity: z.string() })
const values = { value: anyJson.optional(), valueBytes: base64.optional() }

export const waitAnswer = z
  .object({
    ok: z.boolean().describe('Whether the condition was met.'),
    reason: z.string().optional().describe('Why it was not: `timed_out`, `resumed` by an operator, or `rejected`.'),
    at: instant,
    ...values,
    name: z.string().optional().describe('The name of the signal.'),
    by: sender.optional(),
    note: z.string().optional().describe('Why, in the words of the operator.'),
    message: z.string().optional(),
    signals: z
      .array(
        z.object({
          name: z.string(),
          waitpoint: z.string().optional(),
          by: sender,
          at: instant,
          sequence: z.int(),
          ...values,
        }),
      )
      .optional(),
    votes: z.array(z.object({ verdict: z.string(), by: sender, at: instant, ...values })).optional(),
  })
  .meta({ id: 'WaitAnswer' })

export function waitAnswerBody({ value, signals, votes: given, ...rest }: WaitAnswer) {
  const split = <Item extends { readonly value: unknown }>({ value: own, ...item }: Item) => ({
    ...item,
    ...valueFields('value', own),
  })
  return {
    ...rest,
    ...valueFields('value', value),
    ...(signals === undefined ? {} : { signals: signals.map(split) }),
    ...(given === undefined ? {} : { votes: given.map(split) }),
  }
}

export const childrenBody = z.strictObject({
  lease: leaseField,
  children: z
    .array(
      z.strictObject({
        ...workFields,
        name: stepName.describe('The name of its step. Each child of an execution has another one.'),
        delay: duration.optional(),
        detached: z.boolean().optional().describe('True for a child that its parent neither waits for nor stops.'),
      }),
    )
    .min(1)
    .max(CHILD_START_MAX),
})

export const joinBody = z.strictObject({
  lease: leaseField,
  name: stepName.describe('The name of the wait.'),
  children: z
    .array(stepName)
    .min(1)
    .max(8 * CHILD_JOIN_MAX)
    .describe('The names of children that were started before.'),
  policy: z
    .enum(['all', 'settled', 'quorum'])
    .optional()
    .describe('`all` unless given: decided when all have completed, or one has not. `settled` waits for all ends.'),
  need: z.int().min(1).optional().describe('How many of a quorum must complete.'),
  losers: z
    .enum(['cancel', 'let_run'])
    .optional()
    .describe('What happens to those that have not ended when it is decided; `let_run` unless given.'),
})

export const endedChild = z
  .object({
    name: z.string(),
    id: z.string(),
    outcome: z.string().optional().describe('Absent while it has not ended.'),
    result: anyJson.optional(),
    resultBytes: base64.optional(),
    failure: z
      .object({ category: z.string(), message: z.string(), stack: z.string().optional(), at: instant.optional() })
      .optional(),
  })
  .meta({ id: 'EndedChild' })
