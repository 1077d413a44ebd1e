/**
 * Renews the share of an engine and returns it. Drops engines that did not renew in time, and divides the partitions among the
 * others. An engine beyond the number of partitions has no share until another one leaves, and writes nothing. Shares save reads
 * and are no locks: two engines may examine a partition at the same time.
 */
import { DUTIES_ID } from '../../model/duties-schema.ts'
import { dividePartitions } from '../../rules/duty-shares.ts'
import type { Tx } from '../../tx.ts'

export interface RenewDutiesInput {
  readonly engineId: string
  readonly ttlMs: number
  /** All partitions of the store. */
  readonly partitions: readonly string[]
}

export interface RenewDutiesResult {
  readonly kind: 'duties_renewed'
  /** The partitions that the engine examines. */
  readonly partitions: readonly string[]
}

export function renewDuties(tx: Tx, input: RenewDutiesInput): RenewDutiesResult {
  const id = input.engineId
  const live = tx.get('duties', DUTIES_ID)?.engines.filter(({ expiresAt }) => expiresAt > tx.now) ?? []
  const isKnown = live.some((engine) => engine.id === id)
  if (!isKnown && live.length >= input.partitions.length) return { kind: 'duties_renewed', partitions: [] }

  const expiresAt = tx.now + input.ttlMs
  const renewed = isKnown
    ? live.map((engine) => (engine.id === id ? { ...engine, expiresAt } : engine))
    : [...live, { id, expiresAt, partitions: [] }]
  const engines = dividePartitions(renewed, input.partitions)
  tx.put({ type: 'duties', id: DUTIES_ID, engines })
  const partitions = engines.find((engine) => engine.id === id)?.partitions ?? []
  return { kind: 'duties_renewed', partitions }
}
