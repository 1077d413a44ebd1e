/** Mistakes in the operations of budgets that the random commands must find. Each is planted alone. */
import type { AnyRecord, OperationInput, OperationName, Tx } from '../../src/kernel/index.ts'
import { timersIndex } from '../../src/kernel/model/indexes.ts'
import { change } from '../simulation/kernel-plants.ts'

export interface BudgetPlant {
  readonly name: string
  readonly mistake: string
  /** Plants it, and returns how to remove it. */
  readonly plant: () => () => void
}

/** Changes the transaction of an operation, and nothing else. */
function within<N extends OperationName>(name: N, altered: (tx: Tx, input: OperationInput<N>) => Tx): () => () => void {
  return () => change(name, (right, tx, input) => right(altered(tx, input), input))
}

/** A transaction that reads other records than are stored. */
function reading(tx: Tx, alter: (record: AnyRecord) => AnyRecord | undefined): Tx {
  const get: Tx['get'] = (type, id) => {
    const record = tx.get(type, id)
    return record === undefined ? undefined : (alter(record) as typeof record | undefined)
  }
  return { ...tx, get, has: (type, id) => get(type, id) !== undefined }
}

/** A transaction that writes other records than it should, or none. */
function writing(tx: Tx, alter: (record: AnyRecord) => AnyRecord | undefined): Tx {
  return {
    ...tx,
    put: (record) => {
      const altered = alter(record)
      if (altered !== undefined) tx.put(altered)
    },
  }
}

export const budgetPlants: readonly BudgetPlant[] = [
  {
    name: 'parent_not_checked',
    mistake: 'a reservation looks at the lowest level alone',
    plant: () =>
      change('reserveBudget', (right, tx, input) => right(tx, { ...input, accounts: input.accounts.slice(0, 1) })),
  },
  {
    name: 'limit_passed_by_one',
    mistake: 'a reservation compares with one more than the limit',
    plant: within('reserveBudget', (tx) =>
      reading(tx, (record) =>
        record.type === 'budget'
          ? { ...record, hard: record.hard.map((one) => ({ ...one, value: one.value + 1 })) }
          : record,
      ),
    ),
  },
  {
    name: 'reservations_not_counted',
    mistake: 'a reservation has room beside others that are open',
    plant: within('reserveBudget', (tx) =>
      reading(tx, (record) => (record.type === 'account' ? { ...record, reserved: [] } : record)),
    ),
  },
  {
    name: 'reservation_kept',
    mistake: 'a settlement leaves its reservation',
    plant: within('settleReservation', (tx) => ({ ...tx, remove: () => undefined })),
  },
  {
    name: 'spend_counted_again',
    mistake: 'a report that is repeated after a lost reply counts again',
    plant: within('spendBudget', (tx) => reading(tx, (record) => (record.type === 'charge' ? undefined : record))),
  },
  {
    name: 'line_lost',
    mistake: 'a report counts without its line in the ledger',
    plant: within('spendBudget', (tx) => writing(tx, (record) => (record.type === 'charge' ? undefined : record))),
  },
  {
    name: 'level_forgotten',
    mistake: 'a settlement does not count at the root',
    plant: within('settleReservation', (tx) =>
      writing(tx, (record) => (record.type === 'account' && record.name === record.root ? undefined : record)),
    ),
  },
  {
    name: 'raised_again',
    mistake: 'a raise that is repeated adds again',
    plant: within('raiseBudget', (tx) =>
      reading(tx, (record) => {
        if (record.type === 'charge') return undefined
        return record.type === 'account' ? { ...record, raises: [] } : record
      }),
    ),
  },
  {
    name: 'reset_forgets_reservations',
    mistake: 'a reset gives back what is reserved',
    plant: within('resetBudget', (tx) =>
      writing(tx, (record) => (record.type === 'account' ? { ...record, reserved: [], reservationCount: 0 } : record)),
    ),
  },
  {
    name: 'reservations_never_lapse',
    mistake: 'the due pass does not look for reservations',
    plant: within('runDue', (tx) => ({
      ...tx,
      range: (range) => (range.index === timersIndex('reservation') ? [] : tx.range(range)),
    })),
  },
  {
    name: 'release_of_others',
    mistake: 'a release gives back twice what was reserved',
    plant: within('releaseReservation', (tx) =>
      reading(tx, (record) =>
        record.type === 'reservation'
          ? { ...record, amounts: record.amounts.map((one) => ({ ...one, value: 2 * one.value })) }
          : record,
      ),
    ),
  },
]
