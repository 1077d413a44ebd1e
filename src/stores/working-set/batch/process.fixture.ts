/**
 * Processes that share a store, each with its own batch runner. Counts every load and commit. A test may run acts of other
 * processes before them, or change requests and replies.
 */
import { queueId } from '../../../kernel/index.ts'
import type { Claimed, EventType, ExecutionId, OperationInput, OperationName } from '../../../kernel/index.ts'
import type { OperationResult } from '../../../kernel/index.ts'
import { virtualRuntime } from '../../../runtime/index.ts'
import type { VirtualRuntime } from '../../../runtime/index.ts'
import { ConditionalMemoryStore } from '../../memory/conditional-memory.fixture.ts'
import { PARTITION, call, claim, creation, problemsOf } from '../../store.fixture.ts'
import type { Answer, Call, PartitionDump, StoredEvent, Wake } from '../../store.ts'
import type { Backend, Commit, CommitReply, LoadReply, LoadRequest } from '../commit/backend.ts'
import { BatchRunner } from './batch-runner.ts'
import type { RunCounts } from './batch-runner.ts'

export interface ProcessOptions {
  /** The store's clock, as on a server, or that of the program. The program's unless given. */
  readonly clock?: 'server' | 'program' | undefined
}

type Act = () => unknown

/** What happens once in front of each of the next loads or commits. */
class Interruptions {
  readonly #acts: (Act | undefined)[] = []

  /** `skipped` of them come before. */
  add(act: Act, skipped: number): void {
    this.#acts[skipped] = act
  }

  async next(): Promise<void> {
    await this.#acts.shift()?.()
  }
}

export class Process implements Backend {
  readonly checksClear = true
  loadCount = 0
  hasAskedForLock = false
  readonly commits: Commit[] = []
  readonly wakes: Wake[] = []
  readonly pauses: number[] = []
  /** The numbers of calls whose answers came before those of others of their batch, with how many commits had been made. */
  readonly earlyAnswers: { readonly call: number; readonly commits: number }[] = []
  readonly #loads = new Interruptions()
  readonly #commits = new Interruptions()
  readonly #pauses = new Interruptions()
  readonly #backend: Backend
  readonly #runtime: VirtualRuntime
  readonly #runner: BatchRunner

  constructor(backend: Backend, runtime: VirtualRuntime, { clock = 'program' }: ProcessOptions = {}) {
    this.#backend = backend
    this.#runtime = runtime
    this.#runner = new BatchRunner({
      backend: this,
      runtime,
      now: clock === 'server' ? undefined : () => runtime.now(),
      pause: (ms) => this.pause(ms),
      onWake: (wake) => this.wakes.push(wake),
    })
  }

  get commitCount(): number {
    return this.commits.length
  }

  /** How often it asked the store. */
  get trips(): { readonly loads: number; readonly commits: number } {
    return { loads: this.loadCount, commits: this.commitCount }
  }

  get counts(): RunCounts {
    return this.#runner.counts
  }

  /** Runs an act before the next load, or before a later one. */
  beforeLoad(act: Act, skipped = 0): void {
    this.#loads.add(act, skipped)
  }

  beforeCommit(act: Act, skipped = 0): void {
    this.#commits.add(act, skipped)
  }

  /** Runs an act during a pause. */
  beforePause(act: Act, skipped = 0): void {
    this.#pauses.add(act, skipped)
  }

  /** Counts anew. */
  reset(): void {
    this.loadCount = 0
    this.commits.length = 0
    this.pauses.length = 0
  }

  run(...calls: Call[]): Promise<Answer[]> {
    return this.#runner.run(PARTITION, calls, (number) => {
      this.earlyAnswers.push({ call: number, commits: this.commitCount })
    })
  }

  async do<N extends OperationName>(
    operation: N,
    input: OperationInput<N>,
    ...blobs: Uint8Array[]
  ): Promise<OperationResult<N>> {
    const [answer] = await this.run(call(operation, input, ...blobs))
    if (answer?.kind !== 'answered') throw new Error(`${operation} was not answered: ${JSON.stringify(answer)}`)
    return answer.result as OperationResult<N>
  }

  async pause(ms: number): Promise<void> {
    this.pauses.push(ms)
    await this.#pauses.next()
    await this.#runtime.advance(ms)
  }

  async load(request: LoadRequest): Promise<LoadReply> {
    this.loadCount += 1
    if (request.lock !== undefined) this.hasAskedForLock = true
    await this.#loads.next()
    return await this.#backend.load(request)
  }

  async commit(commit: Commit): Promise<CommitReply> {
    this.commits.push(commit)
    await this.#commits.next()
    return await this.#backend.commit(commit)
  }
}

/** One store and the programs that share it. */
export class Scene {
  readonly runtime = virtualRuntime()
  readonly store = new ConditionalMemoryStore(this.runtime, { executionPartitions: 1, indexedTags: [] })
  readonly a: Process
  readonly b: Process
  #claimCount = 0

  constructor(options: ProcessOptions = {}) {
    this.a = new Process(this.store, this.runtime, options)
    this.b = new Process(this.store, this.runtime, options)
  }

  /** An execution that a program has submitted. */
  async submitted(
    by: Process,
    wish: Parameters<typeof creation>[0] = {},
    ...blobs: Uint8Array[]
  ): Promise<ExecutionId> {
    const input = creation(wish)
    await by.do('createExecution', input, ...blobs)
    return input.executionId
  }

  /** An execution that a program holds. */
  async held(by: Process): Promise<Claimed> {
    await this.submitted(by)
    const { executions } = await by.do('claimForWorker', this.claimInput(1))
    const [claimed] = executions
    if (claimed === undefined) throw new Error('Nothing was claimed.')
    by.reset()
    return claimed
  }

  claimInput(count = 10): OperationInput<'claimForWorker'> {
    this.#claimCount += 1
    return claim({ requestId: `claim ${this.#claimCount}`, count })
  }

  async eventsOf(type: EventType): Promise<readonly StoredEvent[]> {
    const { events } = await this.store.dump(PARTITION)
    return events.filter((event) => event.type === type)
  }

  async problems(): Promise<string[]> {
    const dump = await this.store.dump(PARTITION)
    return [...problemsOf(dump), ...queueProblems(dump)]
  }
}

/** No worker finds an execution whose queue was forgotten. */
function queueProblems({ records }: PartitionDump): string[] {
  const queues = new Set(records.flatMap((record) => (record.type === 'queue' ? [record.id] : [])))
  return records.flatMap((record) =>
    record.type === 'execution' && !queues.has(queueId(record.lane, record.class))
      ? [`the queue of ${record.id} is not registered`]
      : [],
  )
}
