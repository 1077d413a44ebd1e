/** Collapses the levels of a large graph: counts by state, and lines only for the members of interest. */
import { bucketOf, noMembers } from '../../kernel/index.ts'
import type { MemberBucket, MemberCounts, MemberView } from '../../kernel/index.ts'
import type { Graph } from './flow-levels.ts'
import { stateText } from './state-text.ts'
import type { Painter } from './state-text.ts'

/** The most named members: in total, and per level. */
const NAMED_MAX = 40
const NAMED_IN_LEVEL_MAX = 8
/** The number of named blocked members, all of the first blocked level: the rest waits for them, or with them. */
const BLOCKED_HEAD_COUNT = 3
/** In a deeper graph, adjacent levels without named members are counted together. */
const LEVEL_MAX = 20

export interface CollapsedLevel {
  readonly heading: string
  readonly named: readonly MemberView[]
}

export function collapsedLevels({ levels }: Graph, painter: Painter): CollapsedLevel[] {
  const named = namedOf(levels)
  const isUnnamed = (level: number) => level < levels.length && named[level]?.length === 0
  const folded: CollapsedLevel[] = []
  let from = 0
  while (from < levels.length) {
    let end = from + 1
    if (levels.length > LEVEL_MAX && isUnnamed(from)) while (isUnnamed(end)) end++
    const place = end - from === 1 ? `level ${end}` : `levels ${from + 1} to ${end}`
    const heading = `${place}: ${countsText(countsOf(levels.slice(from, end).flat()), painter)}`
    folded.push({ heading, named: named[from] ?? [] })
    from = end
  }
  return folded
}

/** Ended states first, then running, then pending. */
const COUNT_ORDER: readonly MemberBucket[] = [
  'completed',
  'failed',
  'expired',
  'cancelled',
  'superseded',
  'skipped',
  'active',
  'suspended',
  'waiting',
  'delayed',
  'rate_limited',
  'waiting_dependencies',
]

export function countsText(counts: Readonly<MemberCounts>, painter: Painter): string {
  const shown = COUNT_ORDER.filter((bucket) => counts[bucket] > 0)
  return shown.map((bucket) => stateText(bucket, painter, `${counts[bucket]} ${bucket}`)).join(', ')
}

function countsOf(members: readonly MemberView[]): MemberCounts {
  const counts = noMembers()
  for (const { execution } of members) counts[bucketOf(execution)]++
  return counts
}

/** The order in which members are named. Other states are only counted. */
const INTEREST: readonly MemberBucket[] = [
  'failed',
  'expired',
  'cancelled',
  'suspended',
  'active',
  'waiting_dependencies',
]

/** The named members of each level, in the order of the graph. */
function namedOf(levels: readonly (readonly MemberView[])[]): readonly (readonly MemberView[])[] {
  const all = levels.flatMap((members, level) =>
    members.map((view) => ({ view, level, bucket: bucketOf(view.execution) })),
  )
  const candidates = INTEREST.flatMap((bucket) => {
    const found = all.filter((one) => one.bucket === bucket)
    if (bucket !== 'waiting_dependencies') return found
    return found.filter(({ level }) => level === found[0]?.level).slice(0, BLOCKED_HEAD_COUNT)
  })
  const chosen = levels.map(() => new Set<MemberView>())
  let count = 0
  for (const { view, level } of candidates) {
    const there = chosen[level]
    if (there === undefined || there.size === NAMED_IN_LEVEL_MAX || count === NAMED_MAX) continue
    there.add(view)
    count++
  }
  return levels.map((members, level) => members.filter((view) => chosen[level]?.has(view) === true))
}
