/** Random conditions and random signals for them: few names, places and senders, so that they meet often. */
import fc from 'fast-check'
import { CONDITION_DEPTH_MAX } from '../../src/kernel/index.ts'
import type { CountBy, SignalSource } from '../../src/kernel/index.ts'
import { atLeast, count, one, only } from '../conformance/condition-nodes.ts'
import type { Asked } from '../conformance/condition-nodes.ts'
import type { AskedSignal } from '../conformance/condition-oracle.ts'

/** Two waitpoints and a mailbox. */
export const PLACES: readonly string[] = ['a', 'b', '@c']
const NAMES = ['yes', 'no']
const SENDERS = ['ada', 'bob', 'eve']
const CHILDREN = 3
const SIGNALS = 14

const places = fc.subarray([...PLACES], { minLength: 1 })
const name = fc.option(fc.constantFrom(...NAMES), { nil: undefined })
const countBy = fc.constantFrom<CountBy>('once', 'signals', 'sources', 'waitpoints')

const single = fc.tuple(fc.constantFrom(...PLACES), name).map(([place, wanted]) => one(place, wanted))

const counting = fc
  .record({ need: fc.integer({ min: 1, max: 3 }), places, name, from: fc.subarray(SENDERS), by: countBy })
  .map(({ need, places: targets, name: wanted, from, by }) => {
    const most = by === 'once' ? 1 : by === 'waitpoints' ? targets.length : need
    return count(Math.min(need, most), targets, { ...(wanted === undefined ? {} : { name: wanted }), from, by })
  })

const never = fc.constantFrom(only('operator'), only('timeout'))

/** As deep as conditions may be. Now and then a part of it is met by no signal at all. */
function anyTree(depth: number): fc.Arbitrary<Asked> {
  const leaf = fc.oneof(
    { arbitrary: single, weight: 4 },
    { arbitrary: counting, weight: 4 },
    { arbitrary: never, weight: 1 },
  )
  if (depth === 0) return leaf
  const group = fc
    .tuple(fc.array(anyTree(depth - 1), { minLength: 1, maxLength: CHILDREN }), fc.nat({ max: CHILDREN - 1 }))
    .map(([children, need]) => atLeast(1 + (need % children.length), children))
  return fc.oneof({ arbitrary: leaf, weight: 1 }, { arbitrary: group, weight: 3 })
}

export const anyCondition = anyTree(CONDITION_DEPTH_MAX)

const source = fc.record<SignalSource>({
  type: fc.constantFrom('token' as const, 'caller' as const),
  identity: fc.constantFrom(...SENDERS),
})

export const anySignals: fc.Arbitrary<AskedSignal[]> = fc
  .array(fc.record({ target: fc.constantFrom(...PLACES), name: fc.constantFrom(...NAMES), source }), {
    maxLength: SIGNALS,
  })
  .map((signals) => signals.map((signal, i) => ({ ...signal, sequence: i + 1 })))
