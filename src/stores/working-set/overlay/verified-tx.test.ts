import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import {
  CREATED_INDEX,
  attemptsIndex,
  edgeId,
  inboundIndex,
  membersIndex,
  operations,
  readyIndex,
} from '../../../kernel/index.ts'
import type { EdgeState, ExecutionId, Flow, FlowId, OperationName, Tx } from '../../../kernel/index.ts'
import { virtualRuntime } from '../../../runtime/index.ts'
import { MemoryStore } from '../../memory/memory-store.ts'
import { PARTITION, creation } from '../../store.fixture.ts'
import type { Call } from '../../store.ts'
import { verifyOperations } from './verification.ts'
import { verifyTx } from './verified-tx.ts'

const FLOW = 'f0-a' as FlowId
const UPSTREAM = '0-a' as ExecutionId
const DOWNSTREAM = '0-b' as ExecutionId
/** An operation that only these tests know. */
const NAME = 'doForTest'

let store: MemoryStore

beforeEach(async () => {
  Object.assign(operations, { [NAME]: (tx: Tx, { work }: { readonly work: (tx: Tx) => unknown }) => work(tx) })
  store = new MemoryStore(virtualRuntime(), { executionPartitions: 1, indexedTags: [] })
  const flow = {
    flowId: FLOW,
    namespace: 'default',
    name: 'flow',
    tags: [],
    outcomeRule: 'all_members',
    retentionMs: 1,
  }
  const add = (executionId: ExecutionId, ...upstreamIds: ExecutionId[]) => ({
    operation: 'addExecutionToFlow',
    input: {
      flowId: FLOW,
      executionId,
      name: executionId,
      create: creation({ executionId }),
      after: upstreamIds.map((upstreamId) => ({ upstreamId })),
    },
    blobs: [],
  })
  const create = { operation: 'createFlow', input: { ...flow, hold: false }, blobs: [] }
  await store.run(PARTITION, [create, add(UPSTREAM), add(DOWNSTREAM, UPSTREAM)] as Call[])
})

afterEach(() => {
  Reflect.deleteProperty(operations, NAME)
})

async function run(work: (tx: Tx) => unknown): Promise<void> {
  const [answer] = await store.run(PARTITION, [{ operation: NAME, input: { work }, blobs: [] } as unknown as Call])
  if (answer?.kind !== 'answered') throw new Error(JSON.stringify(answer))
}

/** What is found of work that is done in the name of an operation. */
async function problemsOf(operation: OperationName, work: (tx: Tx) => unknown, input: unknown = {}): Promise<string[]> {
  let problems: string[] = []
  await run((tx) => {
    const verified = verifyTx(tx, operation, input as never)
    work(verified.tx)
    problems = verified.problems()
  })
  return problems
}

function writeFlow(tx: Tx): void {
  tx.put(tx.get('flow', FLOW)!)
}

function setEdge(tx: Tx, state: EdgeState): void {
  tx.put({ ...tx.get('edge', edgeId(UPSTREAM, DOWNSTREAM))!, state })
}

describe('a change of a guarded index', () => {
  test('without its guard is found, whichever of its records caused it', async () => {
    const leave = (tx: Tx) => {
      tx.has('execution', UPSTREAM)
      tx.remove('execution', UPSTREAM)
    }

    expect(await problemsOf('completeExecution', (tx) => setEdge(tx, 'satisfied'))).toEqual([
      `changes out·${UPSTREAM} without writing its guard, the flow ${FLOW}`,
      `changes in·${DOWNSTREAM} without writing its guard, the flow ${FLOW}`,
    ])
    expect(await problemsOf('purgeExecutions', leave)).toEqual([
      `changes members·${FLOW} without writing its guard, the flow ${FLOW}`,
    ])
  })

  test('with its guard is right, before or after it', async () => {
    const resolve = (tx: Tx) => {
      setEdge(tx, 'satisfied')
      writeFlow(tx)
      setEdge(tx, 'open')
      setEdge(tx, 'impossible')
    }

    expect(await problemsOf('completeExecution', resolve)).toEqual([])
  })

  test('that the operation takes back is none', async () => {
    const back = (tx: Tx) => {
      setEdge(tx, 'satisfied')
      setEdge(tx, 'open')
    }

    expect(await problemsOf('completeExecution', back)).toEqual([])
  })
})

describe('a guarded range', () => {
  test.each([
    ['range', (tx: Tx, index: string) => tx.range({ index, limit: 1 })],
    ['scan', (tx: Tx, index: string) => tx.scan({ index, limit: 1 }, 'execution')],
    ['count', (tx: Tx, index: string) => tx.countUpTo({ index, limit: 1 })],
  ])('that is read before its guard is found: %s', async (_name, look) => {
    const tooEarly = (tx: Tx) => {
      look(tx, membersIndex(FLOW))
      tx.get('flow', FLOW)
    }

    expect(await problemsOf('cancelFlow', tooEarly)).toEqual([
      `reads members·${FLOW} before its guard, the flow ${FLOW}`,
    ])
    expect(await problemsOf('cancelFlow', (tx) => [tx.get('flow', FLOW), look(tx, membersIndex(FLOW))])).toEqual([])
  })

  test('of edges needs the member and its flow', async () => {
    const index = inboundIndex(DOWNSTREAM)
    const flowUnread = (tx: Tx) => [tx.get('execution', DOWNSTREAM), tx.range({ index, limit: 1 })]
    const bothRead = (tx: Tx) => [tx.get('flow', FLOW), flowUnread(tx)]

    expect(await problemsOf('listEdges', flowUnread)).toEqual([
      `reads in·${DOWNSTREAM} before its guard, the flow ${FLOW}`,
    ])
    expect(await problemsOf('listEdges', bothRead)).toEqual([])
  })

  test('whose guard is absent needs the guard to have been looked for', async () => {
    const index = attemptsIndex('0-none')

    expect(await problemsOf('replayExecution', (tx) => tx.range({ index, limit: 1 }))).toHaveLength(1)
    expect(
      await problemsOf('replayExecution', (tx) => [tx.has('execution', '0-none'), tx.range({ index, limit: 1 })]),
    ).toEqual([])
  })
})

describe('an operation', () => {
  test('that is optimistic may not write by an index without a guard; one that is locked may', async () => {
    const decide = (tx: Tx) => {
      tx.countUpTo({ index: CREATED_INDEX, limit: 1 })
      writeFlow(tx)
    }

    expect(await problemsOf('setFlowTags', decide)).toEqual([
      'is optimistic, but writes after reading created, which has no guard',
    ])
    expect(await problemsOf('setFlowTags', (tx) => tx.countUpTo({ index: CREATED_INDEX, limit: 1 }))).toEqual([])
    expect(await problemsOf('purgeExecutions', decide)).toEqual([])
    expect(await problemsOf('claimForWorker', decide, { repeated: true })).toEqual([])
  })

  test('may write by an advisory index', async () => {
    const take = (tx: Tx) => {
      tx.range({ index: readyIndex('main', 'greet'), limit: 1 })
      writeFlow(tx)
    }

    expect(await problemsOf('claimForWorker', take)).toEqual([])
  })

  test('that declares to write nothing may not, and a reconciler may', async () => {
    expect(await problemsOf('describeFlow', writeFlow)).toEqual(['writes, but is snapshot'])
    expect(await problemsOf('countExecutions', writeFlow)).toEqual(['writes, but is loose'])
    expect(await problemsOf('describeFlow', (tx) => tx.forget('key'))).toEqual(['writes, but is snapshot'])
    expect(await problemsOf('reconcileFlowCancels', writeFlow)).toEqual([])
  })

  test('may not write what it has not read', async () => {
    let flow: Flow | undefined
    await run((tx) => (flow = tx.get('flow', FLOW)))

    expect(await problemsOf('setFlowTags', (tx) => tx.put(flow!))).toEqual([
      `writes the flow ${FLOW} without having read it`,
    ])
    expect(await problemsOf('setFlowTags', writeFlow)).toEqual([])
  })

  test('may not write in a part what only another part has read', async () => {
    const shareRead = (tx: Tx) => {
      let flow: Flow | undefined
      tx.part(() => {
        flow = tx.get('flow', FLOW)
        return undefined
      })
      tx.part(() => {
        tx.put(flow!)
        return undefined
      })
    }
    const readOwn = (tx: Tx) => {
      tx.part(() => {
        writeFlow(tx)
        return undefined
      })
    }

    expect(await problemsOf('runDue', shareRead)).toEqual([`writes the flow ${FLOW} without having read it`])
    expect(await problemsOf('runDue', readOwn)).toEqual([])
  })
})

describe('the test mode', () => {
  const right = operations.describeFlow

  afterEach(() => {
    verifyOperations(true)
    Object.assign(operations, { describeFlow: right })
  })

  test('fails a call that breaks a rule, and leaves nothing of it; switched off, it takes the call as it is', async () => {
    const wrong = (tx: Tx) => {
      tx.get('flow', FLOW)
      tx.remove('flow', FLOW)
      return { kind: 'described' }
    }
    Object.assign(operations, { describeFlow: wrong })
    const call: Call<'describeFlow'> = { operation: 'describeFlow', input: { flowId: FLOW }, blobs: [] }
    const flows = async () =>
      (await store.dump(PARTITION)).records.filter(({ type }) => type === 'flow').map(({ id }) => id)

    verifyOperations(true)
    expect(() => store.run(PARTITION, [call])).toThrow(
      'describeFlow breaks the rules of the kernel: writes, but is snapshot.',
    )
    expect(await flows()).toEqual([FLOW])
    verifyOperations(false)
    await store.run(PARTITION, [call])
    expect(await flows()).toEqual([])
  })
})
