import type { NamedDueCase } from './due-case.ts'
import { checkShare } from '../../lifecycle/turns.ts'

/** Removes the share of a key that has had no work for long. */
export const shareExpiry: NamedDueCase<'share'> = {
  name: 'share_expiry',
  dueAt: (share) => share.dueAt,
  run: checkShare,
}
