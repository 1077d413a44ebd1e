/**
 * The condition of a wait against what conditions mean: alone, and on every store, where some signals come before the wait
 * and the others while it lasts.
 */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { beginCounting, countSignal, isMet } from '../../src/kernel/index.ts'
import { nodesOf } from '../conformance/condition-nodes.ts'
import type { Asked } from '../conformance/condition-nodes.ts'
import { effectOf, meets } from '../conformance/condition-oracle.ts'
import type { AskedSignal } from '../conformance/condition-oracle.ts'
import { Clock } from '../conformance/clock.ts'
import { TestFabric } from '../conformance/fabric.ts'
import { GivenJournal } from '../conformance/given-journal.ts'
import { Given } from '../conformance/given.ts'
import type { Held } from '../conformance/given.ts'
import { problemsOf } from '../conformance/invariants.ts'
import { storeTargets } from '../conformance/targets.ts'
import { PLACES, anyCondition, anySignals } from './condition-trees.ts'
import { runs } from './random-runs.ts'

const PURE_RUNS = 3_000
const STORE_RUNS = 12

/** The kernel's effect of each signal until the condition is met, and which of them counted. */
function hear(asked: Asked, signals: readonly AskedSignal[]) {
  const nodes = beginCounting(nodesOf(asked))
  const effects: string[] = []
  const satisfiers: AskedSignal[] = []
  for (const signal of signals) {
    if (isMet(nodes)) break
    const effect = countSignal(nodes, signal)
    effects.push(effect)
    if (effect === 'counted' || effect === 'resumed') satisfiers.push(signal)
  }
  return { effects, satisfiers, isMet: isMet(nodes) }
}

describe('a condition', () => {
  test('is met exactly if its definition is, and each signal has the right effect', () => {
    fc.assert(
      fc.property(anyCondition, anySignals, (asked, signals) => {
        const nodes = nodesOf(asked)
        const heard = hear(asked, signals)

        expect(heard.isMet).toBe(meets(nodes, signals))
        heard.effects.forEach((effect, i) => {
          expect(effect).toBe(effectOf(nodes, signals.slice(0, i), signals[i]!))
        })
      }),
      runs(PURE_RUNS),
    )
  })

  test('is met by those that counted alone, and without the last of them it was not', () => {
    fc.assert(
      fc.property(anyCondition, anySignals, (asked, signals) => {
        const { satisfiers, isMet: wasMet } = hear(asked, signals)

        expect(meets(nodesOf(asked), satisfiers)).toBe(wasMet)
        if (wasMet) expect(meets(nodesOf(asked), satisfiers.slice(0, -1))).toBe(false)
      }),
      runs(PURE_RUNS),
    )
  })

  test('that was met stays met, whatever comes, and whatever the order', () => {
    fc.assert(
      fc.property(anyCondition, anySignals, fc.infiniteStream(fc.nat()), (asked, signals, order) => {
        const keys = new Map(signals.map((signal) => [signal, order.next().value as number]))
        const shuffled = signals.toSorted((a, b) => keys.get(a)! - keys.get(b)!)

        expect(hear(asked, shuffled).isMet).toBe(hear(asked, signals).isMet)
        const met = signals.map((_, i) => hear(asked, signals.slice(0, i)).isMet)
        expect(met).toEqual(met.toSorted())
      }),
      runs(PURE_RUNS),
    )
  })
})

describe.each(storeTargets)('a condition on $name', (target) => {
  test('comes out the same, however many of its signals came before the wait', async () => {
    await fc.assert(
      fc.asyncProperty(anyCondition, anySignals, fc.nat({ max: 14 }), async (asked, signals, earlyCount) => {
        const expected = hear(asked, signals)
        const fabric = new TestFabric(target)
        await fabric.open()
        try {
          const run = new WaitRun(fabric)
          await run.begin()
          await run.send(signals.slice(0, earlyCount))
          await run.wait(asked)
          await run.send(signals.slice(earlyCount))

          expect(await run.outcome()).toEqual({
            isMet: expected.isMet,
            satisfiers: expected.satisfiers.map(({ sequence }) => sequence),
          })
          expect(problemsOf(await fabric.dump())).toEqual([])
        } finally {
          await fabric.close()
        }
      }),
      runs(STORE_RUNS),
    )
  })
})

/** One execution that receives signals, waits, and receives the rest. */
class WaitRun {
  readonly #given: Given
  readonly #journal: GivenJournal
  #held: Held | undefined

  constructor(fabric: TestFabric) {
    this.#given = new Given(fabric, new Clock(fabric))
    this.#journal = new GivenJournal(fabric, this.#given)
  }

  async begin(): Promise<void> {
    const held = await this.#given.activeExecution()
    for (const place of PLACES) if (!place.startsWith('@')) await this.#journal.open(held, place)
    this.#held = held
  }

  async wait(asked: Asked): Promise<void> {
    await this.#journal.wait(this.#holder, { for: asked, opens: [] })
  }

  /** Those that come when the wait is over are nothing to it: closed, or kept in the mailbox. */
  async send(signals: readonly AskedSignal[]): Promise<void> {
    for (const { target, name, source } of signals) await this.#journal.signal(this.#holder, target, { name, source })
  }

  async outcome(): Promise<{ readonly isMet: boolean; readonly satisfiers: number[] }> {
    const { state, wait } = await this.#journal.step(this.#holder, 'answer')
    const isMet = state.phase === 'closed' && state.how === 'satisfied'
    return { isMet, satisfiers: wait?.satisfiers ?? [] }
  }

  get #holder(): Held {
    if (this.#held === undefined) throw new Error('the run has not begun')
    return this.#held
  }
}
