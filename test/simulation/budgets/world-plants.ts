/** Mistakes that the traffic of budgets must find: those in single operations, and those that only work which waits can show. */
import type { AnyRecord, OperationName, Tx } from '../../../src/kernel/index.ts'
import { budgetPlants } from '../../properties/budget-plants.ts'
import type { BudgetPlant } from '../../properties/budget-plants.ts'
import { change } from '../kernel-plants.ts'

function writing(name: OperationName, alter: (record: AnyRecord) => AnyRecord): () => () => void {
  return () => change(name, (right, tx, input) => right(altered(tx, alter), input))
}

function altered(tx: Tx, alter: (record: AnyRecord) => AnyRecord): Tx {
  return { ...tx, put: (record) => tx.put(alter(record)) }
}

/** An operation that makes room does not see what waits for it, and so forgets it. */
function forgetting(name: OperationName): () => () => void {
  return () =>
    change(name, (right, tx, input) => {
      const get: Tx['get'] = (type, id) => {
        const record = tx.get(type, id)
        if (record?.type === 'account') return { ...record, parked: undefined }
        return record?.type === 'gauge' ? { ...record, waiting: undefined } : record
      }
      return right({ ...tx, get }, input)
    })
}

export const worldPlants: readonly BudgetPlant[] = [
  ...budgetPlants,
  {
    name: 'settled_without_waking',
    mistake: 'a settlement wakes nothing that waits for room',
    plant: forgetting('settleReservation'),
  },
  {
    name: 'released_without_waking',
    mistake: 'a release wakes nothing that waits for room',
    plant: forgetting('releaseReservation'),
  },
  {
    name: 'raised_without_waking',
    mistake: 'a raise wakes nothing that waits for room',
    plant: forgetting('raiseBudget'),
  },
  {
    name: 'reset_without_waking',
    mistake: 'a reset wakes nothing that waits for room',
    plant: forgetting('resetBudget'),
  },
  {
    name: 'lapsed_without_waking',
    mistake: 'a reservation that lapses wakes nothing that waits for room',
    plant: () =>
      change('runDue', (right, tx, input) => {
        const get: Tx['get'] = (type, id) => {
          const record = tx.get(type, id)
          if (record?.type === 'account') return { ...record, parked: undefined }
          return record?.type === 'gauge' && record.owed === undefined ? { ...record, waiting: undefined } : record
        }
        return right({ ...tx, get }, input)
      }),
  },
  {
    name: 'delayed_work_not_woken',
    mistake: 'a budget that is opened or changed wakes blocked work, and none that is delayed',
    plant: () =>
      change('wakeWaiting', (right, tx, input) =>
        input.cursor?.stage === 'delayed'
          ? { kind: 'waiting_woken', wakes: [], cursor: undefined, wakeAt: undefined }
          : right(tx, input),
      ),
  },
  {
    name: 'wake_not_owed',
    mistake: 'a raise whose process crashes wakes nothing',
    plant: () =>
      change('raiseBudget', (right, tx, input) => {
        const forgetting = altered(tx, (record) =>
          record.type === 'gauge' ? { ...record, owed: undefined, wakeAt: undefined } : record,
        )
        const result = right(forgetting, input)
        return result.kind === 'refused' ? result : { ...result, wakes: [] }
      }),
  },
  {
    name: 'opened_without_waking',
    mistake: 'a budget that is opened wakes nothing',
    plant: () =>
      change('wakeWaiting', () => ({ kind: 'waiting_woken', wakes: [], cursor: undefined, wakeAt: undefined })),
  },
  {
    name: 'freeze_ignored',
    mistake: 'a frozen budget reserves',
    plant: () =>
      change('reserveBudget', (right, tx, input) => {
        const get: Tx['get'] = (type, id) => {
          const record = tx.get(type, id)
          const isFrozen = record?.type === 'budget' && record.freeze !== undefined
          return isFrozen ? { ...record, freeze: undefined } : record
        }
        return right({ ...tx, get }, input)
      }),
  },
  {
    name: 'period_never_ends',
    mistake: 'what was spent in a past period still counts',
    plant: writing('spendBudget', (record) =>
      record.type === 'account' && record.period > 1 ? { ...record, spent: record.total } : record,
    ),
  },
]
