import { removeCharge } from '../../lifecycle/budgets/charges.ts'
import type { NamedDueCase } from './due-case.ts'

/** Removes an old line of the ledger. The sums of its accounts stay. */
export const chargeExpiry: NamedDueCase<'charge'> = {
  name: 'charge_expiry',
  dueAt: (charge) => charge.expiresAt,
  run: removeCharge,
}
