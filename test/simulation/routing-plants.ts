/** Mistakes in how work with needs finds its workers. */
import { taskClass } from '../../src/kernel/index.ts'
import { LearntQueues } from '../../src/worker/claim/learnt-queues.ts'
import { change } from './kernel-plants.ts'
import type { Plant } from './plant.ts'
import { changeMethod } from './process-plants.ts'
import { NEEDS, ROUTED } from './routing.ts'

export const routingPlants: readonly Plant[] = [
  {
    name: 'needs_ignored_by_claim',
    mistake: 'a claim of a task also hands out executions that need more than its worker has',
    plant: () =>
      change('claimForWorker', (right, tx, input) => {
        const others = input.queues
          .filter((queue) => queue.class === ROUTED)
          .flatMap(({ lane }) =>
            NEEDS.filter((needs) => needs.length > 0).map((needs) => ({
              lane,
              class: taskClass(ROUTED, undefined, { needs: { text: needs.join(','), isDigest: false } }),
            })),
          )
        return right(tx, { ...input, queues: [...input.queues, ...others] })
      }),
  },
  {
    name: 'needs_not_learnt',
    mistake: 'a worker neither lists queues nor learns of them through wake-ups',
    plant: () => {
      const restore = [
        changeMethod(LearntQueues.prototype, 'start', () => undefined),
        changeMethod(LearntQueues.prototype, 'consider', () => false),
      ]
      return () => restore.forEach((right) => right())
    },
  },
  {
    name: 'needs_learnt_by_wake_ups_alone',
    mistake: 'a worker learns of queues through wake-ups alone, and some are lost',
    plant: () => changeMethod(LearntQueues.prototype, 'start', () => undefined),
  },
]
