/** What a handler is given besides its input. */
import type { AttemptKind, ExecutionId, FlowId } from '../kernel/index.ts'
import type { Log } from '../runtime/index.ts'
import type { MemberFlow } from './member-flow.ts'
import type { Tags } from './names.ts'
import type { AnyInputs } from './upstreams.ts'

export interface ProgressReport {
  /** From 0 to 100. */
  readonly percent?: number
  readonly message?: string
}

/** What a handler knows of the execution it runs, and how it speaks back. */
export interface TaskContext<Inputs = AnyInputs> {
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
  /** The flow that the execution is a member of, and its name there. */
  readonly flowId: FlowId | undefined
  readonly node: string | undefined
  /** The results of those that the execution waited for, by name. Those of an upstream that did not complete are absent. */
  readonly inputs: Inputs
  /** The flow from inside: adds members to it, and waits for them. Outside a flow its methods are refused. */
  readonly flow: MemberFlow
  /** Aborts when the lease is lost, a cancel is wished, the attempt runs out of time, the worker stops or the execution is parked. */
  readonly signal: AbortSignal
  /** When the attempt runs out of time, in milliseconds since the epoch by this machine's clock. */
  readonly deadlineAt: number | undefined
  readonly log: Log
  /** Says how far the work has come. Reports in quick succession are merged, the last one is never lost; a long message is cut. */
  readonly progress: (report: number | ProgressReport, message?: string) => Promise<void>
  /**
   * Has something called if this run of the handler ends by being parked: what follows the wait, a `finally` included, then
   * does not run, and what the handler has opened is to be closed here. The latest is called first.
   */
  readonly onPark: (cleanUp: () => Promise<void> | void) => void
}
