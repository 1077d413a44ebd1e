/** The shapes of all answers. A refusal has written nothing. */
import type { ErrorCode } from './errors.ts'
import type { Execution, ExecutionId, FlowId, Outcome, Phase } from './model/records.ts'
import { publicState } from './model/public-state.ts'
import type { PublicState } from './model/public-state.ts'

/** Details of a refusal besides its code. */
export interface RefusalDetail {
  readonly executionId?: ExecutionId | undefined
  readonly state?: PublicState | undefined
  readonly phase?: Phase | undefined
  readonly outcome?: Outcome | undefined
  readonly epoch?: number | undefined
  readonly attempt?: number | undefined
  readonly limit?: number | undefined
  readonly flowId?: FlowId | undefined
  /** The names of the members along a cycle. */
  readonly path?: readonly string[] | undefined
  /** The names of the nodes at fault. */
  readonly nodes?: readonly string[] | undefined
  readonly revision?: number | undefined
  readonly waitpoint?: string | undefined
  readonly step?: string | undefined
  readonly workerInstanceId?: string | undefined
  /** The name of a limit. */
  readonly name?: string | undefined
}

export interface Refused<C extends ErrorCode = ErrorCode> {
  readonly kind: 'refused'
  readonly code: C
  readonly detail: RefusalDetail
}

export function refused<C extends ErrorCode>(code: C, detail: RefusalDetail): Refused<C> {
  return { kind: 'refused', code, detail }
}

/** Builds a refusal that contains the state of the execution, so that its caller need not read it. */
export function refusedFor<C extends ErrorCode>(code: C, execution: Execution): Refused<C> {
  const state = execution.state
  return {
    kind: 'refused',
    code,
    detail: {
      executionId: execution.id,
      state: publicState(state),
      phase: state.phase,
      outcome: state.phase === 'ended' ? state.outcome : undefined,
      epoch: execution.epoch,
      attempt: execution.attempt?.number,
    },
  }
}
