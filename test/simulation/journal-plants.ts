/** Mistakes in steps, waits and signals: each puts a wrong operation in the place of a right one. */
import { signalIdAt, stepValueKey, waitpointIdIn } from '../../src/kernel/index.ts'
import type { Execution, OperationInput, Signal, Tx } from '../../src/kernel/index.ts'
import { change, putting } from './kernel-plants.ts'
import type { Plant } from './plant.ts'

export const journalPlants: readonly Plant[] = [
  {
    name: 'compensation_lost',
    mistake: 'a cancel ends an execution without giving it a chance to undo its steps',
    plant: () => change('cancelExecution', (right, tx, input) => right(tx, { ...input, force: true })),
  },
  {
    name: 'compensation_not_stored',
    mistake: 'the store forgets that a handler has registered compensations, so a failure ends without them',
    plant: () => change('registerCompensation', () => ({ kind: 'registered' })),
  },
  {
    name: 'failure_decides_late',
    mistake: 'a final failure is not stored before the compensations run, so a later run may complete',
    plant: () =>
      change('claimForWorker', (right, tx, input) =>
        right(
          putting(tx, (execution) => {
            if (execution.unwinding?.outcome === 'failed') execution.unwinding = undefined
          }),
          input,
        ),
      ),
  },
  {
    name: 'unwinding_not_handed_over',
    mistake: 'a worker does not learn that it claims an execution which is to undo its steps',
    plant: () =>
      change('claimForWorker', (right, tx, input) => {
        const result = right(tx, input)
        return {
          ...result,
          executions: result.executions.map((claimed) => ({ ...claimed, unwinding: undefined })),
        }
      }),
  },
  {
    name: 'answered_place_stays_open',
    mistake: 'a signal that ends a wait leaves the place open that it was sent to',
    plant: () =>
      change('deliverSignal', (right, tx, input) => {
        const open = tx.get('execution', input.executionId)?.journal?.open ?? []
        return right(
          putting(tx, ({ state, journal }) => {
            if (state.phase !== 'suspended' && journal !== undefined) journal.open = open
          }),
          input,
        )
      }),
  },
  {
    name: 'duplicate_taken_again',
    mistake: 'a signal that is sent again counts as another one',
    plant: () =>
      change('deliverSignal', (right, tx, input) => {
        const isTaken = knownSignal(tx, input) !== undefined
        return right(tx, isTaken ? { ...input, key: `${input.key} again` } : input)
      }),
  },
  {
    name: 'duplicate_refused_after_resume',
    mistake: 'a signal that ended a wait is refused when it is sent again after a lost reply',
    plant: () =>
      change('deliverSignal', (right, tx, input) => {
        const result = right(tx, input)
        if (result.kind !== 'duplicate' || result.effect !== 'resumed') return result
        return { kind: 'refused', code: 'waitpoint_closed', detail: { executionId: input.executionId } }
      }),
  },
  {
    name: 'early_signals_not_heard',
    mistake: 'a wait does not look at what came before it',
    plant: () =>
      change('suspendExecution', (right, tx, input) =>
        right({ ...tx, scan: (range, type) => (type === 'signal' ? [] : tx.scan(range, type)) }, input),
      ),
  },
  {
    name: 'timeout_outlives_its_wait',
    mistake: 'the time of a wait that was answered still runs',
    plant: () =>
      change('deliverSignal', (right, tx, input) => {
        const before = tx.get('execution', input.executionId)?.state
        const until = before?.phase === 'suspended' ? before.until : undefined
        return right(
          putting(tx, (execution) => {
            if (execution.state.phase !== 'suspended' && until !== undefined) execution.deadlineAt = until
          }),
          input,
        )
      }),
  },
  {
    name: 'steps_not_told',
    mistake: 'a claim does not return that there are steps',
    plant: () =>
      change('claimForWorker', (right, tx, input) => {
        const result = right(tx, input)
        return { ...result, executions: result.executions.map((claimed) => ({ ...claimed, journal: undefined })) }
      }),
  },
  {
    name: 'step_overwritten',
    mistake: 'a step that is recorded already is recorded again',
    plant: () => {
      const restore = change('claimForWorker', (right, tx, input) => {
        const result = right(tx, input)
        return { ...result, executions: result.executions.map((claimed) => ({ ...claimed, journal: undefined })) }
      })
      const restoreStep = change('recordStep', (right, tx, input) => {
        const result = right(tx, input)
        const { outcome, executionId, stepKind, name } = input
        if (result.kind !== 'already_recorded' || outcome.kind !== 'completed') return result
        const step = tx.get('step', [executionId, stepKind, name].join('\u001f'))
        if (step === undefined || outcome.value === undefined) return result
        tx.forget(stepValueKey(step.id))
        tx.keep(stepValueKey(step.id), outcome.value.blob)
        return { kind: 'recorded', at: tx.now, until: undefined }
      })
      return () => {
        restoreStep()
        restore()
      }
    },
  },
  {
    name: 'wait_burns_an_attempt',
    mistake: 'an execution that has waited begins a new attempt',
    plant: () =>
      change('suspendExecution', (right, tx, input) =>
        right(
          putting(tx, (execution) => {
            if (execution.state.phase === 'suspended') execution.next = 'retry'
          }),
          input,
        ),
      ),
  },
  {
    name: 'old_link_accepted',
    mistake: 'a link is good although another was issued',
    plant: () => change('deliverSignal', (right, tx, input) => right(tx, { ...input, token: undefined })),
  },
  {
    name: 'end_leaves_the_wait_open',
    mistake: 'a cancel does not close the wait that it ends',
    plant: () =>
      change('cancelExecution', (right, tx, input) =>
        right({ ...tx, put: (record) => (record.type === 'step' ? undefined : tx.put(record)) }, input),
      ),
  },
  {
    name: 'woken_early',
    mistake: 'a sleep is over when half of it is',
    plant: () =>
      change('suspendExecution', (right, tx, input) => {
        const isSleep = input.stepKind === 'sleep' && input.timeoutMs !== undefined
        return right(tx, isSleep ? { ...input, timeoutMs: Math.floor(input.timeoutMs / 2) } : input)
      }),
  },
  {
    name: 'one_voter_counted_twice',
    mistake: 'a condition that asks for different people counts votes',
    plant: () =>
      change('suspendExecution', (right, tx, input) => {
        const nodes = input.nodes.map((node) => (node.by === 'sources' ? { ...node, by: 'signals' as const } : node))
        return right(tx, { ...input, nodes })
      }),
  },
  {
    name: 'signal_not_kept',
    mistake: 'a signal that ends a wait is not written',
    plant: () =>
      change('deliverSignal', (right, tx, input) =>
        right(
          {
            ...tx,
            put: (record) => (record.type === 'signal' && record.effect === 'resumed' ? undefined : tx.put(record)),
          },
          input,
        ),
      ),
  },
  {
    name: 'resumed_while_it_runs',
    mistake: 'an operator who resumes an execution takes it from the worker that runs it',
    plant: () =>
      change('resumeExecution', (right, tx, input) => {
        const execution = tx.get('execution', input.executionId)
        if (execution?.state.phase !== 'active') return right(tx, input)
        tx.put({ ...execution, state: { phase: 'eligible' }, next: 'continue' } satisfies Execution)
        return { kind: 'resumed', step: 'never', state: 'waiting' }
      }),
  },
]

function knownSignal(tx: Tx, { executionId, target, key }: OperationInput<'deliverSignal'>): Signal | undefined {
  const id = waitpointIdIn(executionId, target)
  return tx.get('signal', signalIdAt(id, tx.get('waitpoint', id)?.round ?? 1, key))
}
