/** Mistakes with ids: follow-ups that are lost or run again, and ids that are free too early. */
import { followUpKey } from '../../src/kernel/index.ts'
import type { AnyRecord, Execution } from '../../src/kernel/index.ts'
import { change } from './kernel-plants.ts'
import type { Plant } from './plant.ts'

export const idPlants: readonly Plant[] = [
  {
    name: 'follow_up_lost',
    mistake: 'a completion forgets the follow-up that waits for it',
    plant: () =>
      change('completeExecution', (right, tx, input) => {
        const execution = tx.get('execution', input.executionId)
        const result = right({ ...tx, get: (type, id) => without(tx.get(type, id), { followUp: undefined }) }, input)
        if (result.kind === 'completed' && execution?.followUp !== undefined) tx.forget(followUpKey(execution))
        return result
      }),
  },
  {
    name: 'follow_up_run_twice',
    mistake: 'a submit that is repeated after its run has begun runs once more',
    plant: () =>
      change('createExecution', (right, tx, input) => {
        const { requestId, ifExists } = input
        const existing = tx.get('execution', input.executionId)
        const isKnown = existing?.requestId === requestId || existing?.pastRequests?.includes(requestId ?? '') === true
        if (ifExists !== 'after' || !isKnown || existing?.attempt === undefined) return right(tx, input)
        const forgotten = { requestId: 'another request', pastRequests: [] }
        return right({ ...tx, get: (type, id) => without(tx.get(type, id), forgotten) }, input)
      }),
  },
  {
    name: 'follow_up_outlives_a_cancel',
    mistake: 'a cancel leaves the follow-up, and reports that it was dropped',
    plant: () =>
      change('cancelExecution', (right, tx, input) => {
        const followUp = tx.get('execution', input.executionId)?.followUp
        return right(
          {
            ...tx,
            forget: () => undefined,
            put: (record) => {
              if (record.type === 'execution' && record.id === input.executionId) record.followUp ??= followUp
              tx.put(record)
            },
          },
          input,
        )
      }),
  },
  {
    name: 'id_free_too_early',
    mistake: 'a purge frees an id when the retention is over, whatever its dedupe time',
    plant: () =>
      change('purgeExecutions', (right, tx, input) =>
        right(
          {
            ...tx,
            getMany: (type, ids) => tx.getMany(type, ids).map((record) => without(record, { dedupeMs: undefined })),
          },
          input,
        ),
      ),
  },
]

/** A copy of an execution with other values; anything else as it is. */
function without<R extends AnyRecord | undefined>(record: R, values: Partial<Execution>): R {
  return record?.type === 'execution' ? { ...record, ...values } : record
}
