/** Mistakes with versions and with inputs that a program refuses. */
import { taskClass, taskOfClass } from '../../src/kernel/index.ts'
import { change, putting } from './kernel-plants.ts'
import type { Plant } from './plant.ts'

const LATEST_VERSION = 2

export const versionPlants: readonly Plant[] = [
  {
    name: 'version_ignored_by_claim',
    mistake: 'a claim also hands out versions that its worker does not serve',
    plant: () =>
      change('claimForWorker', (right, tx, input) => {
        const latest = input.queues
          .filter((queue) => queue.class !== taskOfClass(queue.class))
          .map((queue) => ({ ...queue, class: taskClass(taskOfClass(queue.class), LATEST_VERSION) }))
        return right(tx, { ...input, queues: [...input.queues, ...latest] })
      }),
  },
  {
    name: 'version_not_stored',
    mistake: 'a submit loses the version of its task',
    plant: () =>
      change('createExecution', (right, tx, input) =>
        right(tx, { ...input, version: undefined, class: taskClass(input.task, undefined) }),
      ),
  },
  {
    name: 'refusal_ends_too_early',
    mistake: 'the last refusal but one ends an execution',
    plant: () =>
      change('releaseExecution', (right, tx, input) => {
        const { refusal } = input
        return right(
          tx,
          refusal === undefined ? input : { ...input, refusal: { ...refusal, countLimit: refusal.countLimit - 1 } },
        )
      }),
  },
  {
    name: 'refusal_counted_twice',
    mistake: 'a refusal counts as two',
    plant: () =>
      change('releaseExecution', (right, tx, input) =>
        right(
          putting(tx, (execution) => {
            const { refusals, state } = execution
            if (refusals === undefined || state.phase !== 'delayed') return
            execution.refusals = { ...refusals, count: refusals.count + 1 }
          }),
          input,
        ),
      ),
  },
  {
    name: 'refusal_counts_as_failure',
    mistake: 'an input that a worker refuses costs its execution an attempt',
    plant: () =>
      change('releaseExecution', (right, tx, input) =>
        right(
          putting(tx, (execution) => {
            if (input.refusal === undefined || execution.state.phase !== 'delayed') return
            execution.failureCount = execution.failureCount + 1
          }),
          input,
        ),
      ),
  },
]
