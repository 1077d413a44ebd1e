/** Mistakes in the kernel that the traffic must find. Each is planted alone. */
import type { AnyRecord, Gauge, OperationInput, OperationName, Tx } from '../../../src/kernel/index.ts'
import { timersIndex } from '../../../src/kernel/model/indexes.ts'
import { change } from '../kernel-plants.ts'

export interface LimitPlant {
  readonly name: string
  readonly mistake: string
  /** Plants it, and returns how to remove it. */
  readonly plant: () => () => void
}

/** A transaction that reads other records than are stored. */
function reading(tx: Tx, alter: (record: AnyRecord) => AnyRecord): Tx {
  return {
    ...tx,
    get: (type, id) => {
      const record = tx.get(type, id)
      return record === undefined ? undefined : (alter(record) as typeof record)
    },
  }
}

/** A transaction that writes other records than it should. */
function writing(tx: Tx, alter: (record: AnyRecord) => AnyRecord): Tx {
  return { ...tx, put: (record) => tx.put(alter(record)) }
}

function onGauge(alter: (gauge: Gauge) => Gauge): (record: AnyRecord) => AnyRecord {
  return (record) => (record.type === 'gauge' ? alter(record) : record)
}

/** Changes the transaction of an operation, and nothing else. */
function within<N extends OperationName>(name: N, altered: (tx: Tx, input: OperationInput<N>) => Tx): () => () => void {
  return () => change(name, (right, tx, input) => right(altered(tx, input), input))
}

export const limitPlants: readonly LimitPlant[] = [
  {
    name: 'cap_exceeded_by_one',
    mistake: 'an admission compares the permits that are held with one more than the cap',
    plant: within('takePermits', (tx) =>
      reading(tx, (record) =>
        record.type === 'limit_definition' && record.concurrency !== undefined
          ? { ...record, concurrency: record.concurrency + 1 }
          : record,
      ),
    ),
  },
  {
    name: 'window_forgotten',
    mistake: 'an admission does not enter the window of the rate',
    plant: within('takePermits', (tx) =>
      writing(
        tx,
        onGauge((gauge) => ({ ...gauge, window: [] })),
      ),
    ),
  },
  {
    name: 'window_too_short',
    mistake: 'an admission leaves the window when it is half as old as the window is long',
    plant: within('takePermits', (tx) =>
      reading(tx, (record) =>
        record.type === 'limit_definition' && record.rate !== undefined
          ? { ...record, rate: { ...record.rate, windowMs: record.rate.windowMs / 2 } }
          : record,
      ),
    ),
  },
  {
    name: 'hold_ignored',
    mistake: 'an admission does not look whether the key is held back',
    plant: within('takePermits', (tx) =>
      reading(
        tx,
        onGauge((gauge) => ({ ...gauge, heldUntil: undefined })),
      ),
    ),
  },
  {
    name: 'take_not_recognised',
    mistake: 'a request that is repeated after a lost reply takes permits again',
    plant: within('takePermits', (tx) =>
      reading(tx, (record) => (record.type === 'holding' ? { ...record, requests: [] } : record)),
    ),
  },
  {
    name: 'return_not_recognised',
    mistake: 'a return that is repeated after a lost reply returns permits again',
    plant: within('returnPermits', (tx) =>
      reading(tx, (record) => (record.type === 'holding' ? { ...record, requests: [] } : record)),
    ),
  },
  {
    name: 'return_not_counted',
    mistake: 'a return does not lower the sum of the key',
    plant: within('returnPermits', (tx) =>
      writing(
        tx,
        onGauge((gauge) => ({ ...gauge, heldCount: gauge.heldCount + 1 })),
      ),
    ),
  },
  {
    name: 'lapsed_permits_revived',
    mistake: 'a renewal extends permits that have lapsed',
    plant: within('renewPermits', (tx) => ({ ...tx, now: tx.now - 60_000 })),
  },
  {
    name: 'permits_not_renewed',
    mistake: 'a renewal is answered without having been made',
    plant: within('renewPermits', (tx) => ({ ...tx, put: () => undefined })),
  },
  {
    name: 'permits_expire_early',
    mistake: 'permits are valid for a third of the time that their process asked for',
    plant: () => change('takePermits', (right, tx, input) => right(tx, { ...input, ttlMs: input.ttlMs / 3 })),
  },
  {
    name: 'unused_taken_back_twice',
    mistake: 'permits with which nothing was started make twice their room in the window',
    plant: () =>
      change('returnPermits', (right, tx, input) =>
        right(tx, {
          ...input,
          returns: input.returns.map((one) =>
            one.unused === undefined ? one : { ...one, unused: { ...one.unused, weight: 2 * one.unused.weight } },
          ),
        }),
      ),
  },
  {
    name: 'gates_stay_closed',
    mistake: 'neither a release nor the due pass opens a gate',
    plant: () => {
      const restore = [
        change('openGates', (_, __, input) => ({ kind: 'gates_opened', released: input.gates.map(() => 0) })),
        within('runDue', (tx) => ({
          ...tx,
          range: (range) => (range.index === timersIndex('gate') ? [] : tx.range(range)),
        }))(),
        change('reconcileBlocked', () => ({
          kind: 'blocked_reconciled',
          examined: 0,
          repaired: [],
          cursor: undefined,
        })),
      ]
      return () => restore.forEach((put) => put())
    },
  },
  {
    name: 'refused_claim_burns_an_attempt',
    mistake: 'an execution that got no permit keeps the attempt of its claim',
    plant: within('blockExecution', (tx) => {
      const before = new Map<string, AnyRecord>()
      return {
        ...tx,
        get: (type, id) => {
          const record = tx.get(type, id)
          if (record?.type === 'execution')
            before.set(id, { ...record, attempt: record.attempt && { ...record.attempt } })
          return record
        },
        put: (record) => {
          const old = record.type === 'execution' ? before.get(record.id) : undefined
          tx.put(
            record.type === 'execution' && old?.type === 'execution' ? { ...record, attempt: old.attempt } : record,
          )
        },
      }
    }),
  },
  {
    name: 'pause_ignored',
    mistake: 'a claim takes executions of a lane that is paused',
    plant: within('claimForWorker', (tx) =>
      reading(tx, (record) => (record.type === 'lane' ? { ...record, hold: undefined } : record)),
    ),
  },
  {
    name: 'gate_removed_with_work_behind_it',
    mistake: 'a gate is removed although executions wait behind it',
    plant: within('openGates', (tx) => ({
      ...tx,
      put: (record) => (record.type === 'gate' ? tx.remove('gate', record.id) : tx.put(record)),
    })),
  },
  {
    name: 'turn_of_a_key_forgotten',
    mistake: 'a submit does not record the next turn of its key, so that all of its executions have one turn',
    plant: within('createExecution', (tx) => ({
      ...tx,
      put: (record) => (record.type === 'share' ? undefined : tx.put(record)),
    })),
  },
  {
    name: 'first_of_a_key_behind_the_others',
    mistake: 'the first execution of a key gets a turn behind a long backlog',
    plant: within('createExecution', (tx) =>
      reading(tx, (record) => (record.type === 'rotation' ? { ...record, turn: record.turn + 100_000 } : record)),
    ),
  },
]
