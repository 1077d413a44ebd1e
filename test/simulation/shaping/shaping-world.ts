/**
 * Submitters, workers, an engine and an operator on one store in memory, with virtual time: all that shaped submits meet. A seed
 * decides who is next, whether a request or a reply is lost, and when a worker crashes.
 */
import type {
  CreateInput,
  CreateResult,
  Execution,
  ExecutionId,
  Fence,
  OperationInput,
  OperationName,
  SubmitShaping,
} from '../../../src/kernel/index.ts'
import { virtualRuntime } from '../../../src/runtime/virtual.ts'
import { MemoryStore } from '../../../src/stores/memory/memory-store.ts'
import { executionPartition } from '../../../src/stores/store.ts'
import { problemsOf } from '../../conformance/invariants.ts'
import { Chance, seededUuids } from '../chance.ts'
import { ShapingCheck } from './shaping-check.ts'
import type { AppliedSubmit } from './shaping-check.ts'

const PARTITION = executionPartition(0)
const START_AT = 1_700_000_000_000
const LANE = 'main'
const CLASS = 'shaped'
const LEASE_TTL_MS = 1_500
const STEPS = 400
/** Passes in which all must end after the traffic. */
const LAST_PASSES = 400
/** So many that the failures of a run do not use them up. */
const ATTEMPTS = 40

const shapings: readonly SubmitShaping[] = [
  { kind: 'debounce', key: 'a', waitMs: 400, maxMs: 1_500 },
  { kind: 'debounce', key: 'b', waitMs: 900, maxMs: 1_000 },
  { kind: 'throttle', key: 'c', everyMs: 700 },
  { kind: 'singleton', key: 'd', ifTaken: 'join' },
  { kind: 'singleton', key: 'e', ifTaken: 'reject' },
  { kind: 'singleton', key: 'f', ifTaken: 'replace' },
  { kind: 'order', key: 'g', onFailure: 'continue' },
  { kind: 'order', key: 'h', onFailure: 'continue' },
  { kind: 'order', key: 'i', onFailure: 'block' },
]

export interface ShapingReport {
  readonly problems: readonly string[]
  readonly submits: number
  readonly repeated: number
  readonly crashes: number
}

interface Held {
  readonly executionId: ExecutionId
  readonly fence: Fence
}

/** A submit whose reply was lost, and what it has led to if it has arrived. */
interface Unanswered {
  readonly input: CreateInput
  readonly shaping: SubmitShaping
  readonly text: string
  readonly first: AppliedSubmit | undefined
}

class ShapingWorld {
  readonly #chance: Chance
  readonly #runtime = virtualRuntime(START_AT)
  readonly #store = new MemoryStore(this.#runtime, { executionPartitions: 1, indexedTags: [] })
  readonly #check = new ShapingCheck()
  readonly #uuid: () => string
  #held: Held[] = []
  #unanswered: Unanswered | undefined
  #submits = 0
  #repeated = 0
  #crashes = 0

  constructor(seed: number) {
    this.#chance = new Chance(seed)
    this.#uuid = seededUuids(() => this.#runtime.now(), this.#chance.fork('ids'))
  }

  async run(): Promise<ShapingReport> {
    for (let step = 0; step < STEPS && this.#check.problems.length === 0; step++) {
      this.#runtime.jump(this.#chance.between(0, 150))
      await this.#step()
    }
    if (this.#check.problems.length === 0) await this.#settle()
    await this.#store.close()
    const { problems } = this.#check
    return { problems, submits: this.#submits, repeated: this.#repeated, crashes: this.#crashes }
  }

  async #step(): Promise<void> {
    const drawn = this.#chance.between(0, 99)
    // A client repeats a submit soon, so that few others come between.
    if (this.#unanswered !== undefined && drawn < 40) return this.#repeat(this.#unanswered)
    if (drawn < 40) return this.#submit()
    if (drawn < 60) return this.#claim()
    if (drawn < 74) return this.#end('completeExecution')
    if (drawn < 80) return this.#end('failExecution')
    if (drawn < 83) return this.#crash()
    if (drawn < 85) return this.#cancel()
    if (drawn < 88) return this.#continue()
    await this.#engine()
  }

  async #submit(): Promise<void> {
    this.#submits += 1
    const shaping = this.#chance.pick(shapings)
    const text = `input ${this.#submits}`
    const input: CreateInput = {
      executionId: `0-${this.#uuid()}` as ExecutionId,
      requestId: undefined,
      namespace: 'default',
      task: 'shaped',
      lane: LANE,
      class: CLASS,
      priority: this.#chance.between(0, 2),
      tags: [],
      // The last attempt of an execution that holds others back fails for good now and then.
      retry: {
        attempts: shaping.key === 'i' && this.#chance.happens(0.4) ? 1 : ATTEMPTS,
        backoff: { kind: 'fixed', delayMs: 100 },
        jitter: false,
        onlyCategories: [],
      },
      retentionMs: 86_400_000,
      shaping,
      payload: { blob: 0, size: text.length, encoding: 'bytes' },
    }
    await this.#send({ input, shaping, text, first: undefined })
  }

  async #repeat(one: Unanswered): Promise<void> {
    this.#repeated += 1
    await this.#send(one)
  }

  async #send(one: Unanswered): Promise<void> {
    const { input, shaping, text, first } = one
    this.#unanswered = undefined
    if (this.#chance.happens(0.05)) {
      // The request does not arrive.
      this.#unanswered = one
      return
    }
    const result = (await this.#call('createExecution', input, [new TextEncoder().encode(text)])) as CreateResult
    if (result.kind === 'refused') return
    const { kind, executionId } = result
    // A submit that has only joined has left nothing behind, so its repetition is a submit like any other.
    const isFirst = first === undefined || first.kind === 'joined'
    const applied = isFirst ? { shaping, text, at: this.#runtime.now(), kind, executionId } : first
    if (isFirst) this.#check.applied(applied)
    else this.#check.repeated(first, executionId)
    this.#check.ofKey(shaping, await this.#ofKey(shaping))
    if (this.#chance.happens(0.2)) this.#unanswered = { ...one, first: applied }
  }

  async #claim(): Promise<void> {
    const input: OperationInput<'claimForWorker'> = {
      requestId: this.#uuid(),
      workerId: 'worker',
      workerInstanceId: 'worker-1',
      queues: [{ lane: LANE, class: CLASS }],
      count: 1,
      leaseTtlMs: LEASE_TTL_MS,
      seed: this.#chance.between(1, 1_000),
    }
    const [answer] = await this.#store.run(PARTITION, [{ operation: 'claimForWorker', input, blobs: [] }])
    if (answer?.kind !== 'answered') {
      this.#fail(`a claim was not answered: ${JSON.stringify(answer)}`)
      return
    }
    // A claim handles what is due, so an earlier one may have ended in it.
    const now = await this.#executions()
    const { executions } = answer.result as { executions: { executionId: ExecutionId; fence: Fence }[] }
    for (const { executionId, fence } of executions) {
      const text = new TextDecoder().decode(answer.blobs[0])
      const shaping = now.get(executionId)?.shaping
      const others = [...now.values()].filter((other) => other.shaping?.id === shaping?.id)
      this.#check.claimed(executionId, text, this.#runtime.now(), others)
      this.#held.push({ executionId, fence })
    }
  }

  async #end(operation: 'completeExecution' | 'failExecution'): Promise<void> {
    const held = this.#held.splice(this.#chance.between(0, Math.max(0, this.#held.length - 1)), 1)[0]
    if (held === undefined) return
    const failure = { category: 'error', message: 'not yet' }
    await this.#call(operation, operation === 'completeExecution' ? held : { ...held, failure, seed: 1 })
    // The reply is lost, and the worker repeats the call.
    if (operation === 'completeExecution' && this.#chance.happens(0.2)) await this.#call(operation, held)
  }

  async #crash(): Promise<void> {
    this.#crashes += 1
    this.#held = []
  }

  async #cancel(): Promise<void> {
    const open = [...(await this.#executions()).values()].filter(({ state }) => state.phase !== 'ended')
    if (open.length === 0) return
    const { id } = this.#chance.pick(open)
    this.#check.cancelled(id)
    await this.#call('cancelExecution', { executionId: id, reason: 'by hand', by: 'ada', force: true, graceMs: 0 })
  }

  /** The operator lets those run that a failure holds back. */
  async #continue(): Promise<void> {
    const held = [...(await this.#executions()).values()].find(({ shaping }) => shaping?.holdsBack === true)
    if (held === undefined) return
    await this.#call('continueOrder', { executionId: held.id, by: 'ada', reason: undefined })
    this.#check.continued(held.id)
  }

  async #engine(): Promise<void> {
    await this.#call('runDue', { limit: this.#chance.between(1, 20), seed: this.#chance.between(1, 1_000) })
  }

  /** Lets everything end that may. */
  async #settle(): Promise<void> {
    for (let pass = 0; pass < LAST_PASSES && this.#check.problems.length === 0; pass++) {
      this.#runtime.jump(LEASE_TTL_MS)
      this.#held = []
      await this.#call('runDue', { limit: 100, seed: 1 })
      for (let i = 0; i < shapings.length; i++) await this.#claim()
      while (this.#held.length > 0) await this.#end('completeExecution')
      const open = [...(await this.#executions()).values()].filter(({ state }) => state.phase !== 'ended')
      if (open.every(({ state }) => state.phase === 'blocked') && pass > 10) break
    }
    this.#check.ended(await this.#executions())
    for (const problem of problemsOf(await this.#store.dump(PARTITION))) this.#fail(problem)
  }

  async #ofKey({ kind, key }: SubmitShaping): Promise<Execution[]> {
    const all = [...(await this.#executions()).values()]
    return all.filter(({ shaping }) => shaping?.kind === kind && shaping.key === key)
  }

  async #executions(): Promise<Map<string, Execution>> {
    const { records } = await this.#store.dump(PARTITION)
    return new Map(records.flatMap((record) => (record.type === 'execution' ? [[record.id, record]] : [])))
  }

  async #call(operation: OperationName, input: object, blobs: readonly Uint8Array[] = []): Promise<unknown> {
    const [answer] = await this.#store.run(PARTITION, [{ operation, input, blobs }])
    if (answer?.kind === 'answered') return answer.result
    this.#fail(`${operation} was not answered: ${JSON.stringify(answer)}`)
    return { kind: 'refused' }
  }

  #fail(problem: string): void {
    this.#check.problems.push(problem)
  }
}

export function shapedTraffic(seed: number): Promise<ShapingReport> {
  return new ShapingWorld(seed).run()
}
