/** The levels of a large graph in few lines: how many members are in which state, and the names that somebody looks for. */
import { bucketOf, noMembers } from '../../kernel/index.ts'
import type { MemberBucket, MemberCounts, MemberView } from '../../kernel/index.ts'
import type { Graph } from './flow-levels.ts'
import { stateText } from './state-text.ts'
import type { Painter } from './state-text.ts'

/** Members that are named: in all, and of one level. */
const NAMED_MAX = 40
const NAMED_IN_LEVEL_MAX = 8
/** Of what waits for others only the first few of the first level are named: the rest waits behind them, or with them. */
const BLOCKED_HEAD_COUNT = 3
/** Levels that are counted one by one; in a deeper graph, neighbours without a name are counted together. */
const LEVEL_MAX = 20

export interface FoldedLevel {
  readonly heading: string
  readonly named: readonly MemberView[]
}

export function foldedLevels({ levels }: Graph, painter: Painter): FoldedLevel[] {
  const named = namedOf(levels)
  const isDull = (level: number) => level < levels.length && named[level]?.length === 0
  const folded: FoldedLevel[] = []
  let from = 0
  while (from < levels.length) {
    let end = from + 1
    if (levels.length > LEVEL_MAX && isDull(from)) while (isDull(end)) end++
    const place = end - from === 1 ? `level ${end}` : `levels ${from + 1} to ${end}`
    const heading = `${place}: ${countsText(countsOf(levels.slice(from, end).flat()), painter)}`
    folded.push({ heading, named: named[from] ?? [] })
    from = end
  }
  return folded
}

/** In the order in which people ask: what has ended, what runs, what does not yet. */
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
  'waiting_children',
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

/** Who is named first where not all can be. The other states are told by their counts. */
const INTEREST: readonly MemberBucket[] = ['failed', 'expired', 'cancelled', 'suspended', 'active', 'waiting_children']

/** For each level, those of its members that are named, in the order of the graph. */
function namedOf(levels: readonly (readonly MemberView[])[]): readonly (readonly MemberView[])[] {
  const everybody = levels.flatMap((members, level) =>
    members.map((view) => ({ view, level, bucket: bucketOf(view.execution) })),
  )
  const candidates = INTEREST.flatMap((bucket) => {
    const found = everybody.filter((one) => one.bucket === bucket)
    if (bucket !== 'waiting_children') return found
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
