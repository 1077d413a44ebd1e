/** Permits that are taken, returned, renewed and lost in any order, beside an oracle that counts everything anew. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { TakeInput } from '../../src/kernel/index.ts'
import { Clock } from '../conformance/clock.ts'
import { TestFabric } from '../conformance/fabric.ts'
import { GivenLimits, PARTITION } from '../conformance/given-limits.ts'
import { sharedProblemsOf } from '../conformance/invariants.ts'
import type { StoreTarget } from '../conformance/store-target.ts'
import { storeTargets } from '../conformance/targets.ts'
import { KeyOracle } from './limit-oracle.ts'
import type { Terms } from './limit-oracle.ts'
import { holdsForAny } from './random-runs.ts'

const LIMIT = 'shared'
const TTL_MS = 400
const WINDOW_MS = 300

const process = fc.constantFrom('p0', 'p1', 'p2')
const key = fc.constantFrom('', 'acme')
const count = fc.integer({ min: 0, max: 4 })

const terms: fc.Arbitrary<Terms> = fc.record({
  rate: fc.option(
    fc.integer({ min: 1, max: 12 }).map((rateCount) => ({ count: rateCount, windowMs: WINDOW_MS })),
    { nil: undefined },
  ),
  concurrency: fc.option(fc.integer({ min: 1, max: 6 }), { nil: undefined }),
})

const command = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('take' as const),
      process,
      key,
      needed: count,
      spare: fc.constantFrom(0, 0, 0, 9),
      weight: fc.integer({ min: 1, max: 14 }),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constant('return' as const), process, key, count, isUnused: fc.boolean() }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('renew' as const), process, key }) },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('hold' as const), key, ms: fc.integer({ min: 1, max: 200 }) }),
  },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('advance' as const), ms: fc.integer({ min: 1, max: 250 }) }) },
  { weight: 2, arbitrary: fc.constant({ kind: 'repeat' as const }) },
  { weight: 1, arbitrary: fc.constant({ kind: 'due' as const }) },
  { weight: 1, arbitrary: fc.constant({ kind: 'reconcile' as const }) },
)
type Command = typeof command extends fc.Arbitrary<infer C> ? C : never

/** The latest admission of a process and key, which it may return unused. */
interface Last {
  readonly takenAt: number
  readonly weight: number
  readonly count: number
}

class Run {
  readonly #limits: GivenLimits
  readonly #clock: Clock
  readonly #oracles: ReadonlyMap<string, KeyOracle>
  readonly #last = new Map<string, Last>()
  #repeat: () => Promise<void> = async () => undefined
  #requests = 0

  constructor(fabric: TestFabric, agreed: Terms) {
    this.#limits = new GivenLimits(fabric)
    this.#clock = new Clock(fabric)
    this.#oracles = new Map(['', 'acme'].map((one) => [one, new KeyOracle(agreed)]))
  }

  async do(one: Command): Promise<void> {
    switch (one.kind) {
      case 'take':
        return this.#take(one)
      case 'return':
        return this.#return(one)
      case 'renew': {
        const keys = [{ limit: LIMIT, key: one.key }]
        const input = { workerInstanceId: one.process, ttlMs: TTL_MS, keys }
        const { left } = await this.#limits.run('renewPermits', input)
        expect(left[0]).toBe(this.#of(one.key).renew(one.process, this.#clock.now(), TTL_MS))
        return
      }
      case 'hold': {
        await this.#limits.run('holdLimit', { limit: LIMIT, key: one.key, retryAfterMs: one.ms })
        const oracle = this.#of(one.key)
        oracle.heldUntil = Math.max(oracle.heldUntil, this.#clock.now() + one.ms)
        return
      }
      case 'advance':
        this.#clock.advance(one.ms)
        return
      case 'repeat':
        return this.#repeat()
      case 'due':
        await this.#limits.duePass()
        return
      case 'reconcile':
        expect((await this.#limits.run('reconcileLimits', {})).repaired).toEqual([])
        return
    }
  }

  async #take({ process: by, key: of, needed, spare, weight }: Extract<Command, { kind: 'take' }>): Promise<void> {
    const input: TakeInput = {
      requestId: this.#requestId(),
      workerInstanceId: by,
      ttlMs: TTL_MS,
      requests: [{ limit: LIMIT, key: of, weight, needed, spare }],
    }
    const now = this.#clock.now()
    const oracle = this.#of(of)
    const room = oracle.room(weight, now)
    const [answer] = (await this.#limits.run('takePermits', input)).answers
    expect(Math.min(answer!.granted, needed)).toBe(Math.min(needed, room))
    expect(answer!.granted).toBeLessThanOrEqual(room)
    expect(answer!.refusal === undefined).toBe(answer!.granted >= needed)
    oracle.take(by, answer!.granted, weight, now, TTL_MS)
    if (answer!.granted > 0) this.#last.set(by + of, { takenAt: answer!.takenAt, weight, count: answer!.granted })
    const isGranted = answer!.granted > 0
    // A refusal is not remembered: a repetition is a new request. What was granted lapses with its holding.
    this.#repeat = async () => {
      if (!isGranted || oracle.heldBy(by, this.#clock.now()) === 0) return
      const before = await this.#limits.dump()
      const [again] = (await this.#limits.run('takePermits', input)).answers
      expect(again!.granted).toBe(answer!.granted)
      expect(await this.#limits.dump()).toEqual(before)
    }
  }

  async #return({ process: by, key: of, count: back, isUnused }: Extract<Command, { kind: 'return' }>): Promise<void> {
    const last = this.#last.get(by + of)
    const unusedCount = Math.min(back, last?.count ?? 0)
    const unused = isUnused && last !== undefined ? { ...last, count: unusedCount } : undefined
    const input = {
      requestId: this.#requestId(),
      workerInstanceId: by,
      returns: [{ limit: LIMIT, key: of, count: back, unused }],
    }
    const now = this.#clock.now()
    const oracle = this.#of(of)
    const [answer] = (await this.#limits.run('returnPermits', input)).answers
    const returned = oracle.giveBack(by, back, now)
    expect([answer!.returned, answer!.left]).toEqual([returned, oracle.heldBy(by, now)])
    if (unused !== undefined) {
      oracle.refund(unused.takenAt, oracle.weighed(unused.weight) * Math.min(unused.count, returned), now)
      this.#last.delete(by + of)
    }
    // Nothing is remembered of a return that returned nothing: a repetition is a new one.
    this.#repeat = async () => {
      if (returned === 0) return
      const before = await this.#limits.dump()
      expect((await this.#limits.run('returnPermits', input)).answers[0]).toMatchObject({ returned: 0 })
      expect(await this.#limits.dump()).toEqual(before)
    }
  }

  async check(): Promise<void> {
    for (const oracle of this.#oracles.values()) oracle.check(this.#clock.now())
    expect(sharedProblemsOf(await this.#limits.dump())).toEqual([])
  }

  #of(one: string): KeyOracle {
    return this.#oracles.get(one)!
  }

  #requestId(): string {
    this.#requests += 1
    return `r${this.#requests}`
  }
}

async function agrees(target: StoreTarget, agreed: Terms, commands: readonly Command[]): Promise<void> {
  const fabric = new TestFabric(target)
  await fabric.open()
  try {
    await fabric.runIn(PARTITION, 'defineLimit', { name: LIMIT, ...agreed })
    const run = new Run(fabric, agreed)
    for (const one of commands) {
      await run.do(one)
      await run.check()
    }
  } finally {
    await fabric.close()
  }
}

/** A store in the process is quick, so it is asked more often. */
const MANY_RUNS = { same: 80, newForMs: 3_000 }
const FEW_RUNS = { same: 4, newForMs: 2_000 }
const targets = storeTargets.map((target) => ({ target, amount: target.name === 'memory' ? MANY_RUNS : FEW_RUNS }))

test.each(targets)(
  'whatever is taken and returned on $target.name, no window and no cap is exceeded, and room is never lost',
  async ({ target, amount }) => {
    const commands = fc.array(command, { minLength: 1, maxLength: 60 })
    await holdsForAny([terms, commands], (agreed, drawn) => agrees(target, agreed, drawn), amount)
  },
)
