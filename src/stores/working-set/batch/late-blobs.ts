/** Fills in stored blobs of answers that are read with the commit, so that an operation runs without them. */
import type { Instant } from '../../../kernel/index.ts'
import type { Answer, Call } from '../../store.ts'
import type { AppliedReply } from '../commit/backend.ts'
import type { CommitContent } from '../commit/commit-groups.ts'
import type { LateBlob } from '../overlay/held-record.ts'
import { runPass } from './operation-failed.ts'
import { Passes } from '../load/passes.ts'
import type { Pass } from '../load/passes.ts'
import type { WorkingSet } from '../load/working-set.ts'

/** A pass whose writes were committed. */
interface CommittedRun {
  readonly pass: Pass
  readonly now: Instant
  readonly set: WorkingSet
}

/** Puts the bytes from a commit into the answers of the applied groups. `late` has the blobs of all groups. */
export function fillIn(
  calls: readonly Call[],
  run: CommittedRun,
  late: readonly LateBlob[],
  { groupOf, callOf, sends }: CommitContent,
  { failed, sent }: AppliedReply,
): void {
  const lacking = new Set<number>()
  sends.forEach(({ operation, into, place }, i) => {
    const bytes = sent[i]
    if (bytes !== undefined) into[place] = bytes
    else if (!failed.includes(groupOf[operation] as number)) lacking.add(callOf[operation] as number)
  })
  if (lacking.size === 0) return
  const found = new Map(sends.flatMap(({ key }, i) => (sent[i] === undefined ? [] : [[key, sent[i]]])))
  for (const { key } of late) run.set.keepBlob(key, found.get(key))
  answerAgain(calls, run, lacking)
}

/**
 * Recomputes answers whose blob is missing, which only damage from outside can cause. The operation runs again on the same
 * records and gives the same writes, but an answer without the blob.
 */
function answerAgain(calls: readonly Call[], { pass, set, now }: CommittedRun, lacking: ReadonlySet<number>): void {
  set.sendsLate = false
  // Without the blob, the reply limit would admit operations that did not run.
  const ran = calls.filter((_, i) => pass.answers[i]?.kind !== 'not_run')
  const again = runPass(new Passes(ran), set, now)
  if (again === undefined) throw new Error('A batch needed more when it ran again on the same records.')
  for (const call of lacking) pass.answers[call] = again.answers[call] as Answer
}
