import { dropHolding } from '../../lifecycle/limits/gauges.ts'
import { gaugeId } from '../../model/indexes.ts'
import type { NamedDueCase } from './due-case.ts'

/** Takes back the permits of a process that did not renew them. */
export const permitExpiry: NamedDueCase<'holding'> = {
  name: 'permit_expiry',
  dueAt: (holding) => holding.expiresAt,
  run: (tx, holding) => {
    const gauge = tx.get('gauge', gaugeId(holding.limit, holding.key))
    if (gauge === undefined) return tx.fault('permits are held of a key that has no gauge', holding.id)
    dropHolding(tx, gauge, holding)
    tx.put(gauge)
  },
}
