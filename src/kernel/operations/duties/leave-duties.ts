/** Gives the share of a closing engine back. The next renewal of another engine divides it. Idempotent. */
import { DUTIES_ID } from '../../model/duties-schema.ts'
import type { Tx } from '../../tx.ts'

export interface LeaveDutiesInput {
  readonly engineId: string
}

export interface LeaveDutiesResult {
  readonly kind: 'duties_left' | 'already_left'
}

export function leaveDuties(tx: Tx, { engineId }: LeaveDutiesInput): LeaveDutiesResult {
  const duties = tx.get('duties', DUTIES_ID)
  const engines = duties?.engines.filter(({ id }) => id !== engineId) ?? []
  if (engines.length === (duties?.engines.length ?? 0)) return { kind: 'already_left' }

  if (engines.length === 0) tx.remove('duties', DUTIES_ID)
  else tx.put({ type: 'duties', id: DUTIES_ID, engines })
  return { kind: 'duties_left' }
}
