/** Mistakes in operations of the kernel that leave no trace: no event, no wake-up. */
import type { Plant } from './plant.ts'
import { change } from './kernel-plants.ts'

export const silentPlants: readonly Plant[] = [
  {
    name: 'refusal_writes',
    mistake: 'a report of progress that is refused is written down all the same',
    plant: () =>
      change('updateProgress', (right, tx, input) => {
        const result = right(tx, input)
        const execution = tx.get('execution', input.executionId)
        if (result.kind !== 'refused' || execution === undefined) return result
        execution.progress = { percent: input.percent, message: input.message, at: tx.now }
        tx.put(execution)
        return result
      }),
  },
  {
    name: 'tags_not_written',
    mistake: 'tags are reported as set, in the history too, and are not written',
    plant: () => change('setTags', (right, tx, input) => right({ ...tx, put: () => undefined }, input)),
  },
  {
    name: 'due_pass_does_nothing',
    mistake: 'a due pass reports that it is complete and has done nothing',
    plant: () =>
      change('runDue', (_right, tx) => ({
        kind: 'due',
        handled: [],
        next: undefined,
        nextDueAt: undefined,
        oldestDueAt: undefined,
        at: tx.now,
      })),
  },
  {
    name: 'repeated_claim_empty',
    mistake: 'a claim that is repeated after a lost reply hands out nothing',
    plant: () =>
      change('claimForWorker', (right, tx, input) =>
        input.repeated === true
          ? { kind: 'claimed', executions: [], more: false, gates: [], at: tx.now }
          : right(tx, input),
      ),
  },
]
