/** Parts that the records share: ids, instants, references to stored bytes, failures, tags. */
import {
  flag,
  frozen,
  frozenList,
  frozenObject,
  list,
  maybe,
  number,
  object,
  rare,
  text,
  textOf,
  union,
  whole,
  word,
} from './field-kinds.ts'
import type { Infer } from './field-kinds.ts'

declare const brand: unique symbol

/** Milliseconds since the epoch, by the store's clock. */
export type Instant = number

/** `<partition>-<uuid>`: the id routes to the partition that holds the execution. */
export type ExecutionId = string & { readonly [brand]: 'ExecutionId' }

/** `f<partition>-<uuid>`: a flow and all its members live in one partition. */
export type FlowId = string & { readonly [brand]: 'FlowId' }

/** What a boundary of a schedule starts: an execution or a flow. */
export type FiredId = ExecutionId | FlowId

export const executionId = textOf<ExecutionId>()
export const flowId = textOf<FlowId>()
export const firedId = textOf<FiredId>()

const payloadEncoding = word(['json', 'bytes'])

export type PayloadEncoding = Infer<typeof payloadEncoding>

export const blobInfo = frozenObject({ size: whole, encoding: payloadEncoding })

/** Size and encoding of bytes that are stored beside a record. */
export type BlobInfo = Infer<typeof blobInfo>

const firingCause = word(['boundary', 'trigger', 'backfill'])

/** Why a schedule has fired: at its boundary, by hand, or for a past one. */
export type FiringCause = Infer<typeof firingCause>

/** The schedule that created an execution or a flow, and the boundary. */
export const firingOf = frozenObject({ id: text, at: whole, cause: firingCause })

export const failure = object({
  category: text,
  message: text,
  stack: maybe(text),
  at: whole,
})

export type Failure = Infer<typeof failure>

/** A failure as a worker reports it. */
export interface FailureInput {
  /** `permanent` and `cancelled` are never retried. The retry policy decides about any other category. */
  readonly category: string
  readonly message: string
  readonly stack?: string | undefined
}

export const outcome = word(['completed', 'failed', 'cancelled', 'expired', 'skipped'])

export type Outcome = Infer<typeof outcome>

export const tag = object({
  name: text,
  value: text,
  /** Whether executions can be listed by this tag through an index of its own. */
  indexed: flag,
})

export type Tag = Infer<typeof tag>

export const tagList = list(tag)

export const delayCause = word(['submitted', 'retry', 'worker', 'resume', 'debounce'])

export type DelayCause = Infer<typeof delayCause>

const backoff = union('kind', {
  fixed: frozen({ delayMs: whole }),
  exponential: frozen({ initialMs: whole, maxMs: whole, factor: number }),
})

export type Backoff = Infer<typeof backoff>

export const retryPolicy = frozenObject({
  /** Includes the first attempt. */
  attempts: whole,
  backoff,
  jitter: flag,
  /** Unless empty, a failure of any other category is final. */
  onlyCategories: frozenList(text),
})

export type RetryPolicy = Infer<typeof retryPolicy>

export const retentions = frozenObject({
  completed: maybe(whole),
  failed: maybe(whole),
  cancelled: maybe(whole),
  expired: maybe(whole),
  skipped: maybe(whole),
  /** How many ended executions of the task are kept at most: the newest ones. */
  keep: rare(whole),
})

/** How long an ended execution is kept, in milliseconds by outcome. Outcomes that are absent have the retention. */
export type Retentions = Infer<typeof retentions>

export const fairness = frozenObject({
  /** Whose share of the lane it uses. */
  key: text,
  /** How large that share is, compared with others. */
  weight: number,
})

/** How an execution takes part in the fair order of its lane. */
export type Fairness = Infer<typeof fairness>

const limitInstead = word(['drop', 'cancel'])

export const limitRef = frozenObject({
  limit: text,
  key: text,
  weight: whole,
  /** What is done instead of waiting: `drop` ends an execution that has not started, `cancel` cancels the oldest holder. */
  instead: maybe(limitInstead),
  /** Set for some budgets. `inherited`: the children of the execution spend it too. `own`: the execution is the key. */
  budget: rare(word(['inherited', 'own', 'own_inherited'])),
})

/** A limit that an execution needs a permit of, with the key and the weight that its submit computed. */
export type LimitRef = Infer<typeof limitRef>
