/** Conditions on records that an operation creates. */
import type { RecordType } from '../model/records.ts'
import type { Tx } from '../tx.ts'

/** Reads a record that is about to be created, so that the commit carries the condition that it is absent. */
export function expectAbsent(tx: Tx, type: RecordType, id: string): void {
  tx.has(type, id)
}
