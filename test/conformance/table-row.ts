/**
 * One row of the table of operations and phases, gone through with a store: each situation is brought about in a partition
 * of its own, the operation is called twice there, and the outcome has the form of the table.
 */
import { joinName, packRecord, payloadKey, resultKey, signalPayloadKey, valueKeyOf } from '../../src/kernel/index.ts'
import type { AnyRecord, Cell, OperationName, OperationResult } from '../../src/kernel/index.ts'
import { frameChunkKey, liveFramesKey, summaryKey } from '../../src/kernel/model/blob-keys.ts'
import { executionPartition } from '../../src/stores/store.ts'
import type { Answer, Call, Partition, PartitionDump } from '../../src/stores/store.ts'
import { newMemory, storedText } from '../table/trials/memory.ts'
import type { Said } from '../table/trials/memory.ts'
import type { OperationCall } from '../table/trials/operation-call.ts'
import type { Situation } from '../table/trials/situations.ts'
import { REPEAT_AFTER_MS, arrange, cellText } from '../table/trials/table.ts'
import type { Saying } from '../table/trials/table.ts'
import type { Trial } from '../table/trials/trial.ts'
import { START_AT, executionId } from '../table/trials/world.ts'
import type { WorldStep } from '../table/trials/world.ts'
import { lendOrOpen } from './lent-stores.ts'
import type { OpenedTarget, StoreTarget } from './store-target.ts'

export async function rowThrough(target: StoreTarget, trial: Trial, situations: readonly Situation[]): Promise<string> {
  const { runtime, target: opened, giveBack } = await lendOrOpen(target, [])
  try {
    const cells = situations.map((situation, number) => new TableCell(opened, trial, situation, number))
    const instants = new Set(cells.flatMap((cell) => cell.instants).sort((a, b) => a - b))
    for (const instant of instants) {
      runtime.jump(instant - runtime.now())
      await Promise.all(cells.map((cell) => cell.goOn(instant)))
    }
    return cells.map((cell) => cell.text).join('\n')
  } finally {
    await giveBack()
  }
}

class TableCell {
  readonly #target: OpenedTarget
  readonly #trial: Trial
  readonly #situation: Situation
  readonly #partition: Partition
  /** How ids begin here. Those of the table have another name: an id names its partition, and belongs to it alone. */
  readonly #ownIds: string
  readonly #steps: readonly WorldStep[]
  readonly #sayings: Saying[] = []
  /** Bytes as a look has shown them last: some are kept that no look shows any more. */
  readonly #seen = new Map<string, string>()
  #eventCount: number

  constructor(target: OpenedTarget, trial: Trial, situation: Situation, number: number) {
    const world = arrange(trial, situation)
    this.#target = target
    this.#trial = trial
    this.#situation = situation
    this.#partition = executionPartition(number)
    this.#ownIds = `${number}${TABLE_IDS.slice(TABLE_IDS.indexOf('-'))}`
    this.#steps = world.steps
    this.#eventCount = world.memory.events.length
  }

  /** When anything happens here. */
  get instants(): number[] {
    return [...this.#steps.map((step) => step.at), ...this.#saidAt]
  }

  get text(): string {
    return cellText(this.#trial, this.#situation, this.#sayings)
  }

  /** Does what happens at this instant. */
  async goOn(instant: number): Promise<void> {
    for (const step of this.#steps) if (step.at === instant) await this.#take(step)
    if (this.#saidAt.includes(instant)) this.#sayings.push(await this.#say())
  }

  get #saidAt(): readonly number[] {
    const first = START_AT + this.#trial.atMs
    return [first, first + REPEAT_AFTER_MS]
  }

  async #take(step: WorldStep): Promise<void> {
    if (step.kind === 'put') return this.#target.plant(this.#partition, this.#toOwn(step.record) as AnyRecord)
    const [answer] = await this.#run(this.#callOf(step.call, step.blobs))
    if (answer?.kind !== 'answered') throw new Error(`A step of the table was answered with ${JSON.stringify(answer)}.`)
  }

  async #say(): Promise<Saying> {
    const looks = looksAtBytes.map((look) => this.#callOf(look, []))
    const trial = this.#callOf(this.#trial, this.#trial.blobs)
    const answers = await this.#run(...looks, trial, ...looks)
    const answer = answers[looks.length]
    for (const look of answers) {
      if (look !== answer) for (const [key, bytes] of bytesIn(this.#toTable(look) as Answer)) this.#seen.set(key, bytes)
    }
    const dump = this.#toTable(await this.#target.store.dump(this.#partition)) as PartitionDump
    const events = dump.events.slice(this.#eventCount).map(({ sequence: _, ...event }) => event)
    this.#eventCount = dump.events.length
    return {
      said: saidIn(this.#toTable(answer) as Answer),
      events,
      stored: storedIn(dump, this.#seen, this.#trial.blobs),
    }
  }

  #run(...calls: Call[]): Promise<Answer[]> {
    return this.#target.store.run(this.#partition, calls)
  }

  #callOf({ operation, input }: OperationCall, blobs: readonly string[]): Call {
    const bytes = blobs.map((blob) => new TextEncoder().encode(blob))
    return { operation: operation satisfies OperationName, input: this.#toOwn(input), blobs: bytes } as Call
  }

  #toOwn(value: unknown): unknown {
    return renamed(value, TABLE_IDS, this.#ownIds)
  }

  #toTable(value: unknown): unknown {
    return renamed(value, this.#ownIds, TABLE_IDS)
  }
}

/** How all ids of the table begin, those of flows behind their letter. */
const TABLE_IDS = executionId.slice(0, executionId.lastIndexOf('-') + 1)

/** A copy in which ids begin otherwise, wherever they stand. */
function renamed(value: unknown, from: string, to: string): unknown {
  if (typeof value === 'string') return value.replaceAll(from, to)
  if (value instanceof Uint8Array || typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map((item) => renamed(item, from, to))
  return Object.fromEntries(Object.entries(value).map(([name, field]) => [name, renamed(field, from, to)]))
}

function textOf(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes)
}

function saidIn(answer: Answer): Said<{ readonly kind: string }> {
  switch (answer.kind) {
    case 'answered':
      return { kind: 'answered', result: answer.result, blobs: answer.blobs.map(textOf) }
    case 'fault':
      return { kind: 'fault', fault: { reason: answer.reason, recordId: answer.recordId } }
    case 'failed':
    case 'not_run':
      throw new Error(`An operation of the table was answered with ${answer.kind}.`)
  }
}

/**
 * What a dump shows, in the form of the table's own store. A dump knows which bytes there are, looks have shown them. No look
 * shows those of a pending run: they came with the call.
 */
function storedIn(dump: PartitionDump, seen: ReadonlyMap<string, string>, sent: readonly string[]): string {
  const memory = newMemory()
  for (const record of dump.records) {
    const key = joinName(record.type, record.id)
    memory.records.set(key, { type: record.type, id: record.id, cells: packRecord(record) satisfies Cell[] })
  }
  for (const entry of dump.entries) {
    memory.indexes.set(entry.index, [...(memory.indexes.get(entry.index) ?? []), entry])
  }
  for (const key of dump.blobKeys) {
    memory.blobs.set(key, seen.get(key) ?? sent.join(' '))
  }
  return storedText(memory)
}

/** Together they show all bytes that an execution has. */
const looksAtBytes: readonly OperationCall[] = [
  { operation: 'describeExecution', input: { executionId, payload: true, result: true } },
  { operation: 'readSteps', input: { executionId, values: true } },
  { operation: 'readSignals', input: { executionId, payloads: true } },
  { operation: 'readFrames', input: { executionId, chunk: 1, liveAfter: 0, summaryAfter: 0 } },
  { operation: 'readLogLines', input: { executionId, chunk: 1 } },
]

function bytesIn(look: Answer): (readonly [string, string])[] {
  if (look.kind !== 'answered') return []
  const result = look.result as OperationResult<
    'describeExecution' | 'readSteps' | 'readSignals' | 'readFrames' | 'readLogLines'
  >
  const numbers: (readonly [string, number | undefined])[] = []
  if (result.kind === 'described') {
    numbers.push([payloadKey(executionId), result.payloadBlob], [resultKey(executionId), result.resultBlob])
  }
  if (result.kind === 'steps') for (const view of result.steps) numbers.push([valueKeyOf(view.step), view.valueBlob])
  if (result.kind === 'signals') {
    for (const view of result.signals) numbers.push([signalPayloadKey(view.signal.id), view.payloadBlob])
  }
  if (result.kind === 'lines') {
    for (const view of result.chunks) numbers.push([frameChunkKey(view.chunk.id), view.framesBlob])
  }
  if (result.kind === 'frames') {
    for (const view of result.chunks) numbers.push([frameChunkKey(view.chunk.id), view.framesBlob])
    numbers.push([liveFramesKey(executionId), result.liveBlob], [summaryKey(executionId), result.summaryBlob])
  }
  return numbers.flatMap(([key, number]) => {
    const bytes = number === undefined ? undefined : look.blobs[number]
    return bytes === undefined ? [] : [[key, textOf(bytes)] as const]
  })
}
