/** Parts that the records share: ids, instants, references to stored bytes, failures, tags. */
import { flag, frozenObject, list, maybe, object, text, textOf, whole, word } from './field-kinds.ts'
import type { Infer } from './field-kinds.ts'

declare const brand: unique symbol

/** Milliseconds since the epoch, by the store's clock. */
export type Instant = number

/** `<partition>-<uuid>`: the id routes to the partition that holds the execution. */
export type ExecutionId = string & { readonly [brand]: 'ExecutionId' }

/** `f<partition>-<uuid>`: a flow and all its members live in one partition. */
export type FlowId = string & { readonly [brand]: 'FlowId' }

export const executionId = textOf<ExecutionId>()
export const flowId = textOf<FlowId>()

const payloadEncoding = word(['json', 'bytes'])

export type PayloadEncoding = Infer<typeof payloadEncoding>

export const blobInfo = frozenObject({ size: whole, encoding: payloadEncoding })

/** Size and encoding of bytes that are stored beside a record. */
export type BlobInfo = Infer<typeof blobInfo>

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

export const delayCause = word(['submitted', 'retry', 'worker', 'resume'])

export type DelayCause = Infer<typeof delayCause>
