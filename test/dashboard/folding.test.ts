import { expect, test } from 'vitest'
import type { FlowMember } from '../../dashboard/src/api/types.ts'
import { criticalPath, foldedGraph } from '../../dashboard/src/pages/flow/folding.ts'

type Policy = NonNullable<FlowMember['dependencies']>['policy']

/** A member with what the graph depends on. */
function member(
  id: string,
  [startedAt, endedAt]: readonly [number | undefined, number | undefined],
  upstreams: readonly string[] = [],
  [policy, need, state]: readonly [
    policy?: Policy | undefined,
    need?: number | undefined,
    state?: FlowMember['state'],
  ] = [],
): FlowMember {
  return {
    id,
    task: id.replace(/\d+$/, ''),
    state: state ?? (endedAt === undefined ? 'active' : 'completed'),
    startedAt,
    endedAt,
    upstreams: upstreams.map((upstream) => ({ id: upstream, isOpen: false })),
    ...(policy === undefined ? {} : { dependencies: { policy, need: need ?? 1, total: upstreams.length } }),
  } as unknown as FlowMember
}

test('the critical path goes back over the upstream that ended last', () => {
  const members = [
    member('load', [0, 10]),
    member('quick', [10, 20], ['load']),
    member('slow', [10, 90], ['load']),
    member('total', [90, 95], ['quick', 'slow'], ['all_of']),
    member('skipped', [undefined, 95], ['total'], ['all_of', 1, 'skipped']),
  ]
  expect([...criticalPath(members)]).toEqual(['total', 'slow', 'load'])
})

test('in a race it goes over the winner, and in a quorum over the one that completed it', () => {
  const runners = [
    member('a', [0, 50], [], [undefined, undefined, 'cancelled']),
    member('b', [0, 20]),
    member('c', [0, 30]),
    member('d', [0, 90]),
  ]
  const ids = runners.map(({ id }) => id)
  expect([...criticalPath([...runners, member('race', [20, 100], ids, ['any_of'])])]).toEqual(['race', 'b'])
  expect([...criticalPath([...runners, member('most', [30, 100], ids, ['quorum', 2])])]).toEqual(['most', 'c'])
  expect([...criticalPath([...runners, member('all', [90, undefined], ids, ['ended'])])]).toEqual(['all', 'd'])
})

test('members with the same place are one node, unless they join in another way', () => {
  const parts = Array.from({ length: 40 }, (_, i) => member(`part${i}`, [0, 1]))
  const ids = parts.map(({ id }) => id)
  const races = Array.from({ length: 12 }, (_, i) => member(`check${i}`, [1, 2], ids, ['any_of']))
  const rest = Array.from({ length: 12 }, (_, i) => member(`check${i + 12}`, [1, 2], ids, ['all_of']))
  const graph = foldedGraph([...parts, ...races, ...rest])
  expect(graph?.nodes.map(({ members }) => members.length)).toEqual([40, 12, 12])
  expect(graph?.edges).toHaveLength(2)
})
