/**
 * Several stores under one clock, given the same calls at the same moments. Everything that can be seen of them must be
 * equal: each answer, and in the end every record, every index entry, every byte and every event.
 */
import { isDeepStrictEqual } from 'node:util'
import { expect } from 'vitest'
import { BATCH_OPERATION_LIMIT } from '../../src/kernel/index.ts'
import type { Execution, Position, ReconcileCursor } from '../../src/kernel/index.ts'
import { virtualRuntime } from '../../src/runtime/index.ts'
import type { VirtualRuntime } from '../../src/runtime/index.ts'
import { executionPartition } from '../../src/stores/store.ts'
import type { Answer, Call, EventPage, Partition, Store } from '../../src/stores/store.ts'
import { call } from '../conformance/fabric.ts'
import { executionsOf } from '../conformance/execution-invariants.ts'
import { ordered } from '../conformance/ordered-dump.ts'
import type { OpenedTarget, StoreTarget } from '../conformance/store-target.ts'
import type { Batch } from '../properties/commands.ts'
import type { FlowScale } from '../properties/flow-commands.ts'
import { Script } from '../properties/script.ts'
import type { LogReading } from './log-reading.ts'

/** Sends calls that belong together. */
export type Send = (store: Store, partition: Partition, calls: readonly Call[]) => Promise<Answer[]>

export const together: Send = (store, partition, calls) => store.run(partition, calls)

export const oneByOne: Send = async (store, partition, calls) => {
  const answers: Answer[] = []
  for (const sent of calls) answers.push(...(await store.run(partition, [sent])))
  return answers
}

/** A store, and how calls are sent to it. */
export interface Side {
  readonly target: StoreTarget
  readonly send: Send
}

interface OpenSide {
  readonly name: string
  readonly send: Send
  readonly target: OpenedTarget
}

/** What is looked at after a sequence, besides all that is stored. */
export interface Looks {
  /** The log is read, trimmed and read again. Only where time went forward: a log is trimmed by time. */
  readonly reading?: LogReading
  /** All indexes are walked, page by page. */
  readonly isWalked?: boolean
  /** How many flows and nodes are in play. */
  readonly scale?: FlowScale
}

const INDEXED_TAGS = ['team']
/** Small, so that lists continue after many executions. */
const LIST_LIMIT = 7

export class SideBySide {
  readonly #runtime: VirtualRuntime
  readonly #startAt: number
  readonly #first: OpenSide
  readonly #others: readonly OpenSide[]
  #partitions = 0

  private constructor(runtime: VirtualRuntime, first: OpenSide, others: readonly OpenSide[]) {
    this.#runtime = runtime
    this.#startAt = runtime.now()
    this.#first = first
    this.#others = others
  }

  /** All others are compared with the first. */
  static async open(first: Side, ...others: readonly Side[]): Promise<SideBySide> {
    const runtime = virtualRuntime()
    const openSide = async ({ target, send }: Side): Promise<OpenSide> => ({
      name: target.name,
      send,
      target: await target.open(runtime, INDEXED_TAGS),
    })
    return new SideBySide(runtime, await openSide(first), await Promise.all(others.map(openSide)))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const { target } of this.#sides) {
      await target.store.close()
      await target.remove()
    }
  }

  /** Runs a sequence where nothing has happened yet. */
  async compare(batches: readonly Batch[], { reading, isWalked = false, scale }: Looks = {}): Promise<void> {
    const number = this.#begin()
    const partition = executionPartition(number)
    const script = new Script(number, scale)
    for (const { commands, stepMs } of batches) {
      const calls: Call[] = []
      for (const command of commands) {
        const sent = script.callFor(command)
        if (sent !== undefined) calls.push(sent)
        else if (command.kind === 'advance') this.#runtime.jump(command.ms)
      }
      const answers = await this.#send(partition, calls)
      calls.forEach((sent, i) => script.note(sent, answers[i]))
      this.#runtime.jump(stepMs)
    }
    await this.#compareAll('what is stored', async ({ target }) => ordered(await target.store.dump(partition)))
    await this.#compareBytes(partition)
    if (isWalked) await this.#compareWalks(partition)
    if (reading !== undefined) await this.#compareLogs(partition, reading)
    await Promise.all(this.#sides.map(({ target }) => target.clear()))
  }

  get #sides(): readonly OpenSide[] {
    return [this.#first, ...this.#others]
  }

  /** A partition of its own and always the same moment: a sequence does the same whatever ran before it. */
  #begin(): number {
    this.#runtime.jump(this.#startAt - this.#runtime.now())
    this.#partitions += 1
    return this.#partitions
  }

  async #send(partition: Partition, calls: readonly Call[]): Promise<Answer[]> {
    const operations = calls.map(({ operation }) => operation).join(', ')
    const look = async ({ send, target }: OpenSide) => send(target.store, partition, calls)
    return this.#compareAll(`the answers to ${operations}`, look, plain)
  }

  async #compareBytes(partition: Partition): Promise<void> {
    const looks = executionsOf(await this.#first.target.store.dump(partition)).flatMap(looksAt)
    for (let from = 0; from < looks.length; from += BATCH_OPERATION_LIMIT) {
      await this.#send(partition, looks.slice(from, from + BATCH_OPERATION_LIMIT))
    }
  }

  async #compareWalks(partition: Partition): Promise<void> {
    let position: ReconcileCursor | undefined
    do {
      const [walked] = await this.#send(partition, [call('reconcileIndexes', { cursor: position })])
      position = resultOf(walked, 'reconciled').cursor
    } while (position !== undefined)
    let cursor: Position | undefined
    do {
      const [listed] = await this.#send(partition, [call('listExecutions', { limit: LIST_LIMIT, cursor })])
      cursor = resultOf(listed, 'listed').cursor
    } while (cursor !== undefined)
  }

  async #compareLogs(partition: Partition, { olderThanMs, keepCount, after, limit }: LogReading): Promise<void> {
    const read = ({ target }: OpenSide): Promise<EventPage> => target.store.readEvents(partition, after, limit)
    const olderThan = this.#runtime.now() - olderThanMs
    await this.#compareAll('a page of the log', read)
    await this.#compareAll('what was trimmed', ({ target }) => target.store.trimEvents(partition, olderThan, keepCount))
    await this.#compareAll('a page of the trimmed log', read)
  }

  async #compareAll<T>(
    what: string,
    look: (side: OpenSide) => Promise<T>,
    shown: (seen: T) => unknown = (seen) => seen,
  ): Promise<T> {
    const [expected, ...found] = await Promise.all([look(this.#first), ...this.#others.map(look)])
    const expectedValues = present(shown(expected))
    this.#others.forEach(({ name }, i) => {
      const values = present(shown(found[i]!))
      if (isDeepStrictEqual(values, expectedValues)) return
      expect(values, `${what} on ${name}, as on ${this.#first.name}`).toStrictEqual(expectedValues)
    })
    return expected
  }
}

type Result = Extract<Answer, { kind: 'answered' }>['result']

function resultOf<K extends Result['kind']>(answer: Answer | undefined, kind: K): Extract<Result, { kind: K }> {
  if (answer?.kind === 'answered' && answer.result.kind === kind) return answer.result as Extract<Result, { kind: K }>
  throw new Error(`A look was answered with ${JSON.stringify(answer)}.`)
}

/** The bytes that belong to an execution. */
function looksAt({ id: executionId, journal }: Execution): Call[] {
  const own = call('describeExecution', { executionId, attempts: true, payload: true, result: true })
  if (journal === undefined) return [own]
  return [own, call('readSteps', { executionId, values: true }), call('readSignals', { executionId, payloads: true })]
}

/** Without fields that hold nothing: one store has them as undefined, another leaves them out. */
function present(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(present)
  if (typeof value !== 'object' || value === null) return value
  const fields = Object.entries(value).filter(([, field]) => field !== undefined)
  return Object.fromEntries(fields.map(([name, field]) => [name, present(field)]))
}

/** Bytes as numbers, which are shown when they differ. */
function plain(answers: readonly Answer[]): unknown[] {
  return answers.map((answer) =>
    answer.kind === 'answered' ? { ...answer, blobs: answer.blobs.map((blob) => [...blob]) } : answer,
  )
}
