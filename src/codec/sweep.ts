/**
 * Removes offloaded values that no record refers to any more. An object is removed only if it is older than any call that may be on its
 * way, and its owner does not exist. No other call writes an object of its name, so nothing refers to the object later.
 */
import type { Bucket } from './bucket.ts'
import { parseObjectName } from './object-name.ts'

export interface SweepOptions {
  /** Objects that were written in this time are kept, because the call that names them may be on its way. Default: a day. */
  readonly minAgeMs?: number | undefined
  readonly now: number
  /** Counts what would be removed, and removes nothing. */
  readonly dryRun?: boolean | undefined
  /** Called after each group of objects. */
  readonly onProgress?: ((report: SweepReport) => void) | undefined
}

export interface SweepReport {
  /** The objects in the bucket. */
  readonly examined: number
  /** Those that are old enough and have no owner. */
  readonly orphaned: number
  /** Those that were removed: all that are orphaned, and none in a dry run. */
  readonly removed: number
}

const MIN_AGE_DEFAULT_MS = 86_400_000
/** Objects whose owners are looked up at the same time. */
const GROUP_COUNT = 64

interface Candidate {
  readonly name: string
  readonly owner: string
}

/** `exists` must not return false if it does not know: it rejects then, and the sweep ends. */
export async function sweepBucket(
  bucket: Bucket,
  exists: (owner: string) => Promise<boolean>,
  { minAgeMs = MIN_AGE_DEFAULT_MS, now, dryRun = false, onProgress }: SweepOptions,
): Promise<SweepReport> {
  let report: SweepReport = { examined: 0, orphaned: 0, removed: 0 }
  let examined = 0
  let group: Candidate[] = []

  async function sweepGroup(): Promise<void> {
    const orphans = await withoutOwner(group, exists)
    if (!dryRun) await Promise.all(orphans.map(({ name }) => bucket.remove(name)))
    const orphaned = report.orphaned + orphans.length
    report = { examined, orphaned, removed: dryRun ? 0 : orphaned }
    group = []
    onProgress?.(report)
  }

  for await (const { name, at } of bucket.list()) {
    examined += 1
    const parsed = parseObjectName(name)
    // A time that the bucket does not state is compared as unknown, so the object is kept.
    if (parsed === undefined || !(at <= now - minAgeMs)) continue
    group.push({ name, owner: parsed.owner })
    if (group.length === GROUP_COUNT) await sweepGroup()
  }
  await sweepGroup()
  return report
}

async function withoutOwner(
  group: readonly Candidate[],
  exists: (owner: string) => Promise<boolean>,
): Promise<Candidate[]> {
  const owners = [...new Set(group.map(({ owner }) => owner))]
  const found = new Map(await Promise.all(owners.map(async (owner) => [owner, await exists(owner)] as const)))
  return group.filter(({ owner }) => found.get(owner) === false)
}
