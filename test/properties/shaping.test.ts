/** Shaped submits in any order, with crashes, retries, cancels and repetitions, beside an oracle of the windows and of the line. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { CreateInput, ExecutionId, SubmitShaping } from '../../src/kernel/index.ts'
import { Clock } from '../conformance/clock.ts'
import { TestFabric } from '../conformance/fabric.ts'
import {
  CLASS,
  Given,
  LANE,
  LEASE_TTL_MS,
  fixedRetry,
  forcedCancel,
  heldOf,
  transientFailure,
} from '../conformance/given.ts'
import type { Held } from '../conformance/given.ts'
import { problemsOf } from '../conformance/invariants.ts'
import type { StoreTarget } from '../conformance/store-target.ts'
import { storeTargets } from '../conformance/targets.ts'
import { holdsForAny } from './random-runs.ts'

const WAIT_MS = 300
const MAX_MS = 450
const debounce: SubmitShaping = { kind: 'debounce', key: 'k', waitMs: WAIT_MS, maxMs: MAX_MS }
const shapings: readonly SubmitShaping[] = [
  debounce,
  debounce,
  debounce,
  { kind: 'throttle', key: 'k', everyMs: WAIT_MS },
  { kind: 'order', key: 'k', onFailure: 'continue' },
]
/** Enough for all failures of a run. */
const ATTEMPTS = 40

const command = fc.oneof(
  {
    weight: 12,
    arbitrary: fc.record({
      do: fc.constant('submit' as const),
      shaping: fc.constantFrom(...shapings),
      afterMs: fc.integer({ min: 0, max: 120 }),
    }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('pass' as const), ms: fc.integer({ min: 1, max: 280 }) }) },
  { weight: 2, arbitrary: fc.constant({ do: 'repeat' as const }) },
  { weight: 3, arbitrary: fc.constant({ do: 'claim' as const }) },
  { weight: 3, arbitrary: fc.constant({ do: 'complete' as const }) },
  { weight: 2, arbitrary: fc.constant({ do: 'fail' as const }) },
  { weight: 1, arbitrary: fc.constant({ do: 'crash' as const }) },
  { weight: 1, arbitrary: fc.constant({ do: 'due' as const }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('cancel' as const), which: fc.nat(20) }) },
)
type Command = typeof command extends fc.Arbitrary<infer C> ? C : never

interface Window {
  readonly id: ExecutionId
  readonly since: number
  until: number
}

class Run {
  readonly #fabric: TestFabric
  readonly #given: Given
  readonly #clock: Clock
  /** What each execution must have been given last. */
  readonly #inputs = new Map<ExecutionId, string>()
  /** When each may start at the earliest. */
  readonly #notBefore = new Map<ExecutionId, number>()
  /** The ordered executions, in the order of their submits. */
  readonly #ordered: ExecutionId[] = []
  readonly #started: ExecutionId[] = []
  readonly #cancelled = new Set<ExecutionId>()
  readonly #windows: { debounce?: Window; throttle?: Window } = {}
  #held: Held[] = []
  #last: { input: CreateInput; text: string } | undefined
  #count = 0

  constructor(fabric: TestFabric) {
    this.#fabric = fabric
    this.#given = new Given(fabric, new Clock(fabric))
    this.#clock = new Clock(fabric)
  }

  async do(one: Command): Promise<void> {
    switch (one.do) {
      case 'submit':
        this.#clock.advance(one.afterMs)
        return this.#submit(one.shaping)
      case 'pass':
        this.#clock.advance(one.ms)
        return
      case 'repeat':
        // The reply was lost. Nothing else has happened since, so the answer is the same.
        if (this.#last !== undefined) await this.#send(this.#last.input, this.#last.text)
        return
      case 'claim':
        return this.#claim()
      case 'complete':
        return this.#end('completeExecution')
      case 'fail':
        return this.#end('failExecution')
      case 'crash':
        this.#held = []
        this.#last = undefined
        this.#clock.advance(LEASE_TTL_MS)
        return
      case 'due':
        return this.#pass()
      case 'cancel':
        return this.#cancel(one.which)
    }
  }

  async #submit(shaping: SubmitShaping): Promise<void> {
    this.#count = this.#count + 1
    const text = `input ${this.#count}`
    const input = this.#given.createInput({
      shaping,
      ifExists: undefined,
      requestId: undefined,
      retry: fixedRetry(ATTEMPTS, 50),
      bytes: new TextEncoder().encode(text),
    })
    const result = await this.#send(input, text)
    this.#last = { input, text }
    expect(result).toEqual(this.#expected(shaping, input.executionId, text))
  }

  async #send(input: CreateInput, text: string): Promise<{ kind: string; executionId: ExecutionId }> {
    const result = await this.#fabric.run('createExecution', input, [new TextEncoder().encode(text)])
    if (result.kind === 'refused') throw new Error(`a submit was refused: ${result.code}`)
    return { kind: result.kind, executionId: result.executionId }
  }

  #expected({ kind }: SubmitShaping, id: ExecutionId, text: string): { kind: string; executionId: ExecutionId } {
    const now = this.#clock.now()
    const created = { kind: 'created', executionId: id }
    if (kind === 'order') this.#ordered.push(id)
    if (kind === 'debounce') {
      const open = this.#windows.debounce
      const isOpen = open !== undefined && open.until > now && !this.#cancelled.has(open.id)
      const window = isOpen ? open : { id, since: now, until: now }
      window.until = Math.min(now + WAIT_MS, window.since + MAX_MS)
      this.#windows.debounce = window
      this.#inputs.set(window.id, text)
      this.#notBefore.set(window.id, window.until)
      return isOpen ? { kind: 'replaced', executionId: open.id } : created
    }
    const open = this.#windows.throttle
    if (kind === 'throttle' && open !== undefined && open.until > now) return { kind: 'joined', executionId: open.id }
    if (kind === 'throttle') this.#windows.throttle = { id, since: now, until: now + WAIT_MS }
    this.#inputs.set(id, text)
    return created
  }

  async #claim(): Promise<void> {
    this.#last = undefined
    const { executions } = await this.#given.claim({ count: 4, queues: [{ lane: LANE, class: CLASS }] })
    for (const claimed of executions) {
      const { executionId } = claimed
      expect(this.#clock.now()).toBeGreaterThanOrEqual(this.#notBefore.get(executionId) ?? 0)
      this.#held.push(heldOf(claimed))
      if (this.#ordered.includes(executionId) && !this.#started.includes(executionId)) this.#started.push(executionId)
    }
  }

  /** A window that is over keeps nothing back. */
  async #pass(): Promise<void> {
    this.#last = undefined
    await this.#fabric.duePass()
    const window = this.#windows.debounce
    if (window === undefined || window.until > this.#clock.now()) return
    expect((await this.#fabric.look(window.id)).state).not.toMatchObject({ cause: 'debounce' })
  }

  async #end(operation: 'completeExecution' | 'failExecution'): Promise<void> {
    this.#last = undefined
    const held = this.#held.shift()
    if (held === undefined) return
    if (operation === 'completeExecution') await this.#fabric.run(operation, held)
    else await this.#fabric.run(operation, { ...held, ...transientFailure })
  }

  async #cancel(which: number): Promise<void> {
    this.#last = undefined
    const ids = [...this.#inputs.keys()]
    const executionId = ids[which % Math.max(ids.length, 1)]
    if (executionId === undefined) return
    const { kind } = await this.#fabric.run('cancelExecution', { executionId, ...forcedCancel })
    if (kind === 'cancelled') this.#cancelled.add(executionId)
  }

  /** Lets everything run to its end. */
  async finish(): Promise<void> {
    for (let i = 0; i < 4 * this.#count + 4; i++) {
      this.#clock.advance(LEASE_TTL_MS)
      this.#held = []
      await this.#fabric.duePass()
      await this.#claim()
      while (this.#held.length > 0) await this.#end('completeExecution')
    }
    const kept = this.#ordered.filter((id) => !this.#cancelled.has(id) || this.#started.includes(id))
    expect(this.#started).toEqual(kept)
    for (const [executionId, text] of this.#inputs) {
      const { blobs, result } = await this.#fabric.reply('describeExecution', { executionId, payload: true })
      expect(new TextDecoder().decode(blobs[0])).toBe(text)
      if (result.kind !== 'refused') expect(result.execution.state.phase).toBe('ended')
    }
    expect(problemsOf(await this.#fabric.dump())).toEqual([])
  }
}

async function onFabric(target: StoreTarget, commands: readonly Command[]): Promise<void> {
  const fabric = new TestFabric(target)
  await fabric.open()
  try {
    const run = new Run(fabric)
    for (const one of commands) await run.do(one)
    await run.finish()
  } finally {
    await fabric.close()
  }
}

test.each(storeTargets)(
  'windows combine submits and a line keeps their order as the oracle says, on $name',
  async (target) => {
    const isMemory = target.name.startsWith('memory')
    const commands = fc.array(command, { minLength: 5, maxLength: isMemory ? 50 : 25 })
    await holdsForAny<[Command[]]>([commands], (all) => onFabric(target, all), {
      same: isMemory ? 12 : 2,
      newForMs: isMemory ? 500 : 0,
    })
  },
)
