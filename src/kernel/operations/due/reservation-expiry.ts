import { endReservation } from '../../lifecycle/budgets/charges.ts'
import type { NamedDueCase } from './due-case.ts'

/** Returns the reserved amounts of a process that did not renew them. The engine delivers the wakes of work that has room now. */
export const reservationExpiry: NamedDueCase<'reservation'> = {
  name: 'reservation_expiry',
  dueAt: (reservation) => reservation.expiresAt,
  run: (tx, reservation) => {
    endReservation(tx, reservation)
  },
}
