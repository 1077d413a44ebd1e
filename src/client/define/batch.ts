/** Handlers that are called once for many executions of a task. */
import type { ExecutionId } from '../../kernel/model/base-records.ts'
import type { Tags } from '../checks/names.ts'
import { invalidInput } from '../checks/names.ts'
import { parseDuration } from './duration.ts'
import type { Duration } from './duration.ts'

export interface BatchOptions {
  /** The most executions of one call. At most the concurrency of the worker. */
  readonly max: number
  /** How long the first execution of a batch waits for others: up to a minute. 0 batches what is claimed at the same time. */
  readonly wait: Duration
}

/** One execution of a batch. */
export interface BatchItem<Parsed> {
  readonly input: Parsed
  readonly executionId: ExecutionId
  /** The id that its submit gave it. */
  readonly key: string | undefined
  readonly tags: Tags
  readonly attempt: number
  /** Aborts when this execution is cancelled, times out, or loses its lease. */
  readonly signal: AbortSignal
}

export interface BatchContext {
  /** Aborts when the signals of all items have. */
  readonly signal: AbortSignal
}

/** Returns one result for each item, in their order. An `Error` instead of a result fails that execution alone. */
export type BatchFunction<Parsed, Returned> = (
  items: readonly BatchItem<Parsed>[],
  context: BatchContext,
) => Promise<readonly (Returned | Error)[]> | readonly (Returned | Error)[]

/** What a worker needs to call a handler for many executions. */
export interface BatchHandling {
  readonly max: number
  readonly waitMs: number
  readonly run: BatchFunction<unknown, unknown>
}

/** The longest time that executions wait for others of their batch. */
const BATCH_WAIT_MAX_MS = 60_000
const BATCH_SIZE_MAX = 1_000

/** Checks the options of a batch. The options of its handler are apart. */
export function parseBatch({ max, wait }: BatchOptions, run: BatchFunction<unknown, unknown>): BatchHandling {
  if (!Number.isInteger(max) || max < 1 || max > BATCH_SIZE_MAX) {
    throw invalidInput('max', `max must be a whole number from 1 to ${BATCH_SIZE_MAX}.`)
  }
  const waitMs = parseDuration(wait, 'wait')
  if (waitMs <= BATCH_WAIT_MAX_MS) return { max, waitMs, run }
  throw invalidInput('wait', `wait is ${waitMs} ms, but must be at most ${BATCH_WAIT_MAX_MS} ms (one minute).`)
}
