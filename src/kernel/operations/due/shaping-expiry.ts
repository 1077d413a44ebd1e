import type { NamedDueCase } from './due-case.ts'

/** Removes the record of a shaping key that decides nothing any more. */
export const shapingExpiry: NamedDueCase<'shaping_key'> = {
  name: 'shaping_expiry',
  dueAt: (key) => key.removeAt,
  run: (tx, key) => tx.remove('shaping_key', key.id),
}
