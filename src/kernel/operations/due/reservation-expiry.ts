import { endReservation } from '../../lifecycle/budgets/charges.ts'
import type { NamedDueCase } from './due-case.ts'

/** Returns the reserved amounts of a process that did not renew them. Blocked work asks for them when its gate opens. */
export const reservationExpiry: NamedDueCase<'reservation'> = {
  name: 'reservation_expiry',
  dueAt: (reservation) => reservation.expiresAt,
  run: (tx, reservation) => {
    endReservation(tx, reservation)
  },
}
