/** Mistakes in operations of the kernel: each puts a wrong operation in the place of a right one. */
import { DUE_INDEX, operations, payloadKey } from '../../src/kernel/index.ts'
import type {
  ClaimResult,
  Claimed,
  Execution,
  ExecutionId,
  Fence,
  OperationInput,
  OperationName,
  OperationResult,
  Tx,
} from '../../src/kernel/index.ts'
import type { Plant } from './plant.ts'

type Operation<N extends OperationName> = (tx: Tx, input: OperationInput<N>) => OperationResult<N>

/** Puts another operation in the place of one; answers how to put the right one back. */
export function change<N extends OperationName>(
  name: N,
  wrong: (right: Operation<N>, tx: Tx, input: OperationInput<N>) => OperationResult<N>,
): () => void {
  const right = operations[name] as unknown as Operation<N>
  Object.assign(operations, { [name]: (tx: Tx, input: OperationInput<N>) => wrong(right, tx, input) })
  return () => void Object.assign(operations, { [name]: right })
}

/** A transaction that changes executions on their way into the store. */
export function putting(tx: Tx, alter: (execution: Execution) => void): Tx {
  return {
    ...tx,
    put: (record) => {
      if (record.type === 'execution') alter(record)
      tx.put(record)
    },
  }
}

function fenceOf({ state, epoch, attempt }: Execution): Fence | undefined {
  return state.phase === 'active' ? { leaseId: state.lease.id, epoch, attempt: attempt?.number ?? 0 } : undefined
}

/** The fence that is right now, for any caller. */
function withRightFence<I extends { readonly executionId: ExecutionId; readonly fence: Fence }>(tx: Tx, input: I): I {
  const execution = tx.get('execution', input.executionId)
  return { ...input, fence: (execution === undefined ? undefined : fenceOf(execution)) ?? input.fence }
}

function activeIn(tx: Tx, index: string): Execution | undefined {
  return tx.scan({ index, limit: 1 }, 'execution')[0]
}

export const kernelPlants: readonly Plant[] = [
  {
    name: 'fence_not_checked',
    mistake: 'a completion is accepted from any caller',
    plant: () => change('completeExecution', (right, tx, input) => right(tx, withRightFence(tx, input))),
  },
  {
    name: 'failure_not_fenced',
    mistake: 'a failure is accepted from any caller',
    plant: () => change('failExecution', (right, tx, input) => right(tx, withRightFence(tx, input))),
  },
  {
    name: 'renewed_after_expiry',
    mistake: 'a lease that has run out can still be renewed',
    plant: () =>
      change('renewLease', (right, tx, input) => {
        const state = tx.get('execution', input.executionId)?.state
        if (state?.phase !== 'active' || state.lease.expiresAt > tx.now) return right(tx, input)
        const late = putting(tx, (execution) => {
          if (execution.state.phase === 'active') execution.state.lease.expiresAt = tx.now + input.leaseTtlMs
        })
        return right({ ...late, now: state.lease.expiresAt - 1 }, input)
      }),
  },
  {
    name: 'epoch_not_raised',
    mistake: 'a claim of something that was held before does not raise its epoch',
    plant: () =>
      change('claimForWorker', (right, tx, input) => {
        const altered = putting(tx, (execution) => {
          if (execution.epoch > 1) execution.epoch -= 1
        })
        const result = right({ ...altered, emit: lowerEpoch(tx) }, input)
        return { ...result, executions: result.executions.map(withLowerEpoch) }
      }),
  },
  {
    name: 'index_entry_forgotten',
    mistake: 'an execution that is postponed is not entered among what is due',
    plant: () =>
      change('delayExecution', (right, tx, input) => {
        const result = right(tx, input)
        if (result.kind === 'delayed') tx.repair(DUE_INDEX, input.executionId, undefined)
        return result
      }),
  },
  {
    name: 'retry_burns_two',
    mistake: 'a failure that is followed by a retry is counted twice',
    plant: () =>
      change('failExecution', (right, tx, input) =>
        right(
          putting(tx, (execution) => {
            if (execution.state.phase !== 'delayed') return
            execution.failureCount = Math.min(execution.failureCount + 1, execution.retry.attempts - 1)
          }),
          input,
        ),
      ),
  },
  {
    name: 'end_told_twice',
    mistake: 'a completion whose reply was lost ends the execution a second time when it is repeated',
    plant: () =>
      change('completeExecution', (right, tx, input) => {
        const result = right(tx, input)
        const execution = tx.get('execution', input.executionId)
        if (result.kind === 'already_completed' && execution !== undefined) {
          tx.emit('execution_ended', execution, { outcome: 'completed', epoch: execution.epoch })
        }
        return result
      }),
  },
  {
    name: 'exactly_due_skipped',
    mistake: 'the due pass takes what is due exactly now for not yet due',
    plant: () =>
      change('runDue', (right, tx, input) =>
        right(
          {
            ...tx,
            range: (range) =>
              tx.range(range.index === DUE_INDEX && range.to === tx.now ? { ...range, to: tx.now - 1 } : range),
          },
          input,
        ),
      ),
  },
  {
    name: 'cancel_dropped_by_renewal',
    mistake: 'a renewal writes the execution back without its cancel request',
    plant: () =>
      change('renewLease', (right, tx, input) =>
        right(
          putting(tx, (execution) => {
            if (execution.state.phase === 'active') execution.state.cancel = undefined
          }),
          input,
        ),
      ),
  },
  {
    name: 'replay_keeps_the_result',
    mistake: 'a replay leaves the bytes of the old result behind',
    plant: () => change('replayExecution', (right, tx, input) => right({ ...tx, forget: () => undefined }, input)),
  },
  {
    name: 'join_makes_a_second',
    mistake: 'a caller that joins an execution gets one of its own',
    plant: () =>
      change('createExecution', (right, tx, input) => {
        const existing = tx.get('execution', input.executionId)
        if (existing === undefined || existing.requestId === input.requestId || input.ifExists !== 'join') {
          return right(tx, input)
        }
        const executionId = `${input.executionId.slice(0, -4)}ffff` as ExecutionId
        return right(tx, { ...input, executionId })
      }),
  },
  {
    name: 'purged_too_early',
    mistake: 'a purge takes what has a second of its retention left',
    plant: () => change('purgeExecutions', (right, tx, input) => right({ ...tx, now: tx.now + 1_000 }, input)),
  },
  {
    name: 'handed_out_twice',
    mistake: 'a claim also hands out what another worker holds',
    plant: () =>
      change('claimForWorker', (right, tx, input) => {
        const result = right(tx, input)
        const lane = input.queues[0]?.lane ?? ''
        const held = activeIn(tx, ['lane', lane, 'active'].join('\u001f'))
        if (held === undefined || result.executions.some(({ executionId }) => executionId === held.id)) return result
        return { ...result, executions: [...result.executions, handOver(tx, held)] }
      }),
  },
  {
    name: 'renewal_not_sent',
    mistake: 'a renewal is answered without having been made',
    plant: () => change('renewLease', (right, tx, input) => right({ ...tx, put: () => undefined }, input)),
  },
  {
    name: 'another_idempotency_key',
    mistake: 'a claim returns its own time as the time of creation',
    plant: () =>
      change('claimForWorker', (right, tx, input) => {
        const result = right(tx, input)
        return { ...result, executions: result.executions.map((claimed) => ({ ...claimed, createdAt: tx.now })) }
      }),
  },
  {
    name: 'progress_not_told',
    mistake: 'progress that was taken leaves no event',
    plant: () => change('updateProgress', (right, tx, input) => right({ ...tx, emit: () => undefined }, input)),
  },
  {
    name: 'release_burns_an_attempt',
    mistake: 'what is handed back begins a new attempt',
    plant: () =>
      change('releaseExecution', (right, tx, input) =>
        right(
          putting(tx, (execution) => {
            if (execution.state.phase === 'eligible') execution.next = 'reclaim'
          }),
          input,
        ),
      ),
  },
  {
    name: 'repeated_claim_claims_anew',
    mistake: 'a claim that is repeated after a lost reply does not hand out again what it took',
    plant: () => change('claimForWorker', (right, tx, input) => right(tx, { ...input, repeated: false })),
  },
  {
    name: 'timeout_not_set',
    mistake: 'a claim forgets the timeout of the attempt',
    plant: () =>
      change('claimForWorker', (right, tx, input) =>
        right(
          putting(tx, (execution) => {
            if (execution.state.phase === 'active') execution.state.timeoutAt = undefined
          }),
          input,
        ),
      ),
  },
  {
    name: 'payload_forgotten',
    mistake: 'a submit that replaces loses the bytes of its input',
    plant: () =>
      change('createExecution', (right, tx, input) => {
        const result = right(tx, input)
        if (result.kind === 'replaced') tx.forget(payloadKey(input.executionId))
        return result
      }),
  },
  {
    name: 'replay_not_recognised',
    mistake: 'a replay that is repeated after a lost reply replays again once the execution has ended',
    plant: () =>
      change('replayExecution', (right, tx, input) =>
        right({ ...tx, get: (type, id) => withoutReplay(tx.get(type, id)) }, input),
      ),
  },
  {
    name: 'replacement_not_recognised',
    mistake: 'a submit that is repeated after a lost reply replaces what it has created',
    plant: () =>
      change('createExecution', (right, tx, input) => {
        const existing = tx.get('execution', input.executionId)
        const isOwn = existing !== undefined && existing.requestId === input.requestId
        if (!isOwn || input.ifExists !== 'replace' || existing.attempt !== undefined) return right(tx, input)
        return right({ ...tx, get: (type, id) => withoutRequest(tx.get(type, id)) }, input)
      }),
  },
]

function withoutReplay<R>(record: R): R {
  return typeof record === 'object' ? { ...record, lastReplay: undefined } : record
}

function withoutRequest<R>(record: R): R {
  return typeof record === 'object' ? { ...record, requestId: 'another request' } : record
}

function lowerEpoch(tx: Tx): Tx['emit'] {
  return (type, execution, detail) =>
    tx.emit(type, execution, { ...detail, epoch: Math.max(1, (detail.epoch ?? 1) - ((detail.epoch ?? 1) > 1 ? 1 : 0)) })
}

function withLowerEpoch(claimed: Claimed): Claimed {
  const { fence } = claimed
  return { ...claimed, fence: { ...fence, epoch: fence.epoch > 1 ? fence.epoch - 1 : fence.epoch } }
}

function handOver(tx: Tx, execution: Execution): ClaimResult['executions'][number] {
  const fence = fenceOf(execution) ?? { leaseId: '', epoch: 0, attempt: 0 }
  return {
    executionId: execution.id,
    key: execution.key,
    namespace: execution.namespace,
    task: execution.task,
    version: execution.version,
    lane: execution.lane,
    priority: execution.priority,
    tags: execution.tags,
    fence,
    attemptKind: 'initial',
    failureCount: execution.failureCount,
    leaseExpiresAt: tx.now + 1_000,
    timeoutAt: undefined,
    deadlineAt: undefined,
    createdAt: execution.createdAt,
    run: execution.run ?? 0,
    payload: execution.payload,
    payloadBlob:
      execution.payload === undefined ? undefined : tx.send(payloadKey(execution.id), execution.payload.size),
    flowId: execution.member?.flowId,
    node: execution.member?.name,
    inputs: [],
    inputsFrom: undefined,
    condition: undefined,
    journal: undefined,
    unwinding: undefined,
    parent: undefined,
    limits: [],
    budgets: [],
    isAdmitted: true,
    readyForMs: undefined,
    trace: undefined,
  }
}
