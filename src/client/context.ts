import type { AttemptKind, ExecutionId } from '../kernel/index.ts'
import type { Log } from '../runtime/index.ts'
import type { Tags } from './names.ts'

export interface ProgressReport {
  /** From 0 to 100. */
  readonly percent?: number
  readonly message?: string
}

/** What a handler knows of the execution it runs, and how it speaks back. */
export interface TaskContext {
  readonly executionId: ExecutionId
  readonly key: string | undefined
  readonly task: string
  readonly lane: string
  readonly namespace: string
  readonly tags: Tags
  /** Counts from 1 over the whole life of the execution, replays included. */
  readonly attempt: number
  readonly attemptKind: AttemptKind
  /** Failed attempts before this one, since the submit or the last replay. */
  readonly failureCount: number
  /** The same for every attempt: hand it to services that recognise repeated requests. */
  readonly idempotencyKey: string
  /** Aborts when the lease is lost, a cancel is wished, the attempt runs out of time or the worker stops. */
  readonly signal: AbortSignal
  /** When the attempt runs out of time, in milliseconds since the epoch by this machine's clock. */
  readonly deadlineAt: number | undefined
  readonly log: Log
  /** Says how far the work has come. Reports in quick succession are merged, the last one is never lost; a long message is cut. */
  readonly progress: (report: number | ProgressReport, message?: string) => Promise<void>
}
