/** The same calls at the same moments, sent to two stores, or in two ways: everything that can be seen must be equal. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Answer, Call, PartitionDump } from '../../src/stores/store.ts'
import { TestFabric } from '../conformance/fabric.ts'
import { memory, storeTargets } from '../conformance/targets.ts'
import type { StoreTarget } from '../conformance/targets.ts'
import { anyBatches } from './commands.ts'
import { runs } from './random-runs.ts'
import { Script } from './script.ts'

interface Batch {
  readonly commands: readonly Parameters<Script['callFor']>[0][]
  readonly stepMs: number
}

type Send = (fabric: TestFabric, calls: readonly Call[]) => Promise<Answer[]>

const together: Send = (fabric, calls) => fabric.batch(...calls)

const oneByOne: Send = async (fabric, calls) => {
  const answers: Answer[] = []
  for (const sent of calls) answers.push(...(await fabric.batch(sent)))
  return answers
}

const MANY_RUNS = 500
const FEW_RUNS = 80

test('a batch does what its operations do one by one', async () => {
  await fc.assert(
    fc.asyncProperty(anyBatches, (batches) => areEqual(batches, [memory, oneByOne], [memory, together])),
    runs(MANY_RUNS),
  )
})

test.each(storeTargets.filter((target) => target !== memory))(
  '$name gives the results, records, indexes, bytes and events that memory gives',
  async (target) => {
    await fc.assert(
      fc.asyncProperty(anyBatches, (batches) => areEqual(batches, [memory, oneByOne], [target, together])),
      runs(FEW_RUNS),
    )
  },
)

async function areEqual(batches: readonly Batch[], ...sides: readonly (readonly [StoreTarget, Send])[]): Promise<void> {
  const opened = sides.map(([target, send]) => ({ fabric: new TestFabric(target), send }))
  await Promise.all(opened.map(({ fabric }) => fabric.open()))
  try {
    const script = new Script()
    for (const { commands, stepMs } of batches) {
      const calls = commands.map((command) => script.callFor(command)).filter((sent) => sent !== undefined)
      const [expected, ...others] = await Promise.all(opened.map(({ fabric, send }) => send(fabric, calls)))
      for (const answers of others) expect(plain(answers)).toEqual(plain(expected!))
      for (const answer of expected!) script.note(answer)
      for (const { fabric } of opened) fabric.runtime.jump(stepMs)
    }
    const [expected, ...others] = await Promise.all(opened.map(({ fabric }) => fabric.dump()))
    for (const dump of others) expect(inOrder(dump)).toEqual(inOrder(expected!))
  } finally {
    await Promise.all(opened.map(({ fabric }) => fabric.close()))
  }
}

/** Bytes as numbers: one store hands out a Buffer where another has a plain array of bytes. */
function plain(answers: readonly Answer[]): unknown[] {
  return answers.map((answer) =>
    answer.kind === 'answered' ? { ...answer, blobs: answer.blobs.map((blob) => [...blob]) } : answer,
  )
}

/** A store may keep its rows in any order; only the log has one. */
function inOrder(dump: PartitionDump) {
  const sorted = (items: readonly unknown[]) => items.map((item) => JSON.stringify(item, sortedKeys)).sort()
  return {
    records: sorted(dump.records),
    entries: sorted(dump.entries),
    blobKeys: dump.blobKeys.toSorted(),
    events: dump.events,
  }
}

function sortedKeys(_key: string, value: unknown): unknown {
  if (value === null || typeof value !== 'object' || Array.isArray(value)) return value
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
}
