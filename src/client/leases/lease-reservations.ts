/** Reservations of executions that a worker runs without a connection to the store. They are extended with the lease. */
import { RESERVATION_RENEW_MAX } from '../../kernel/index.ts'
import type { LimitKey } from '../../kernel/index.ts'
import { limitPartition } from '../../stores/partitions.ts'
import type { Partition } from '../../stores/store.ts'
import type { Session } from '../session.ts'
import type { Fenced } from './fenced.ts'

/** How much longer a reservation lasts than a lease. */
const OUTLIVES_LEASE = 2

/** Extends what the holder of a lease has reserved. What an earlier lease has reserved lapses. A failed call is repeated with the next renewal. */
export async function renewReserved(
  session: Session,
  holder: Fenced,
  budgets: readonly LimitKey[],
  leaseTtlMs: number,
): Promise<void> {
  const partitions = new Set(budgets.map(({ limit }) => limitPartition(limit, session.settings)))
  await Promise.allSettled([...partitions].map((partition) => renewIn(session, partition, holder, leaseTtlMs)))
}

async function renewIn(
  session: Session,
  partition: Partition,
  { executionId, fence }: Fenced,
  leaseTtlMs: number,
): Promise<void> {
  const ttlMs = leaseTtlMs * OUTLIVES_LEASE
  let cursor: string | undefined
  do {
    const { result } = await session.runIn(partition, 'readReservations', { reservedBy: executionId, cursor })
    const held = result.reservations.filter(({ spender }) => spender.epoch === fence.epoch)
    for (let i = 0; i < held.length; i += RESERVATION_RENEW_MAX) {
      const reservations = held.slice(i, i + RESERVATION_RENEW_MAX).map(({ root, key }) => ({ root, key }))
      await session.runIn(partition, 'renewReservations', { reservations, ttlMs })
    }
    cursor = result.cursor
  } while (cursor !== undefined)
}
