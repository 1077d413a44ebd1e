import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import {
  BATCH_WORK_LIMIT,
  OPERATION_WORK_LIMIT,
  edgeId,
  inboundIndex,
  operations,
  outboundIndex,
  unpackRecord,
} from '../../../kernel/index.ts'
import type { Edge, EdgeState, EventSubject, ExecutionId, Queue, Tx } from '../../../kernel/index.ts'
import { virtualRuntime } from '../../../runtime/index.ts'
import { MemoryStore } from '../../memory/memory-store.ts'
import { PARTITION, problemsOf } from '../../store.fixture.ts'
import type { Answer, Call } from '../../store.ts'

/** An operation that only these tests know. */
const NAME = 'doForTest'

let store: MemoryStore

beforeEach(() => {
  Object.assign(operations, { [NAME]: (tx: Tx, { work }: { readonly work: (tx: Tx) => unknown }) => work(tx) })
  store = new MemoryStore(virtualRuntime(), { executionPartitions: 1, indexedTags: [] })
})

afterEach(() => {
  Reflect.deleteProperty(operations, NAME)
})

async function run(...works: ((tx: Tx) => unknown)[]): Promise<Answer[]> {
  const calls = works.map((work) => ({ operation: NAME, input: { work }, blobs: [] }) as unknown as Call)
  return await store.run(PARTITION, calls)
}

function queue(number: number): Queue {
  return {
    type: 'queue',
    id: `queue ${number}`,
    lane: 'main',
    class: `${number}`,
    createdAt: 1,
    needs: undefined,
    keeps: undefined,
  }
}

function putMany(tx: Tx, count: number): void {
  for (let i = 0; i < count; i++) tx.put(queue(i))
}

function subject(id: string): EventSubject {
  return { id: id as ExecutionId, namespace: 'default', task: 'greet', lane: 'main', tags: [], member: undefined }
}

test('an operation that meets an impossible state leaves nothing behind', async () => {
  const bytes = new Uint8Array([1])
  const doing = (work: (tx: Tx) => unknown) => ({ operation: NAME, input: { work }, blobs: [bytes] }) as unknown as Call
  const first = doing((tx) => {
    tx.put(queue(1))
    tx.keep('kept', 0)
    tx.emit('execution_created', subject('0-a'), {})
  })
  const faulty = doing((tx) => {
    tx.put({ ...queue(1), createdAt: 2 })
    tx.remove('queue', queue(1).id)
    tx.put(queue(2))
    tx.forget('kept')
    tx.keep('other', 0)
    tx.emit('execution_created', subject('0-b'), {})
    tx.fault('a test', '0-b')
  })
  const last = doing((tx) => [tx.get('queue', queue(1).id)?.createdAt, tx.get('queue', queue(2).id)])

  const answers = await store.run(PARTITION, [first, faulty, last])

  expect(answers[1]).toMatchObject({ kind: 'fault' })
  expect(answers[2]).toMatchObject({ result: [1, undefined] })
  const { records, blobKeys, events, entries } = await store.dump(PARTITION)
  expect(records).toEqual([queue(1)])
  expect(entries.map(({ id }) => id)).toEqual([queue(1).id])
  expect(blobKeys).toEqual(['kept'])
  expect(events.map(({ executionId }) => executionId)).toEqual(['0-a'])
})

describe('the work of an operation', () => {
  test('is one for each record, however often it is put or removed', async () => {
    const rooms: number[] = []
    await run((tx) => {
      rooms.push(tx.room())
      tx.put(queue(1))
      tx.put(queue(1))
      tx.remove('queue', queue(1).id)
      tx.put(queue(1))
      rooms.push(tx.room())
      tx.put(queue(2))
      rooms.push(tx.room())
    })

    expect(rooms).toEqual([OPERATION_WORK_LIMIT, OPERATION_WORK_LIMIT - 1, OPERATION_WORK_LIMIT - 2])
    expect((await store.dump(PARTITION)).records).toHaveLength(2)
  })

  test('that has come to its bound leaves what was written to be written again, and nothing else', async () => {
    const [again] = await run((tx) => {
      putMany(tx, OPERATION_WORK_LIMIT)
      putMany(tx, OPERATION_WORK_LIMIT)
    })
    const [more] = await run((tx) => putMany(tx, OPERATION_WORK_LIMIT + 1))

    expect(again).toMatchObject({ kind: 'answered' })
    const reason = 'the operation writes more records than it may'
    expect(more).toEqual({ kind: 'fault', reason, recordId: queue(OPERATION_WORK_LIMIT).id })
  })

  test('counts anew for the next of the same call, and ends the call once it is enough', async () => {
    const full = (tx: Tx) => putMany(tx, OPERATION_WORK_LIMIT)
    const count = BATCH_WORK_LIMIT / OPERATION_WORK_LIMIT

    const answers = await run(...Array.from({ length: count + 1 }, () => full))

    expect(answers.map(({ kind }) => kind)).toEqual([...Array<string>(count).fill('answered'), 'not_run'])
  })
})

describe('a record whose entries bear the ids of others', () => {
  const [a, b, c] = ['0-a', '0-b', '0-c'] as ExecutionId[] as [ExecutionId, ExecutionId, ExecutionId]

  function edge(upstreamId: ExecutionId, downstreamId: ExecutionId, state: EdgeState): Edge {
    return { ...unpackRecord('edge', []), id: edgeId(upstreamId, downstreamId), upstreamId, downstreamId, state }
  }

  function idsIn(tx: Tx, index: string): string[] {
    return tx.range({ index, limit: 10 }).map(({ id }) => id)
  }

  test('stands where they say, moves there and goes from there', async () => {
    const seen: string[][] = []
    const look = (tx: Tx) => seen.push(idsIn(tx, outboundIndex(a)), idsIn(tx, inboundIndex(c)))
    await run((tx) => {
      tx.put(edge(a, b, 'open'))
      tx.put(edge(a, c, 'open'))
      tx.put(edge(b, c, 'open'))
      look(tx)
    })
    expect(problemsOf(await store.dump(PARTITION))).toEqual([])
    await run((tx) => {
      tx.put(edge(a, b, 'satisfied'))
      tx.remove('edge', edgeId(b, c))
      look(tx)
    })

    expect(seen).toEqual([[b, c], [a, b], [c, b], [a]])
    expect(problemsOf(await store.dump(PARTITION))).toEqual([])
  })

  test('is as it was after an operation that failed', async () => {
    await run((tx) => tx.put(edge(a, b, 'open')))
    const before = await store.dump(PARTITION)

    const [answer] = await run((tx) => {
      tx.put(edge(a, b, 'satisfied'))
      tx.put(edge(b, c, 'open'))
      tx.remove('edge', edgeId(a, b))
      tx.fault('for a test', a)
    })

    expect(answer).toMatchObject({ kind: 'fault' })
    expect(await store.dump(PARTITION)).toEqual(before)
  })
})
