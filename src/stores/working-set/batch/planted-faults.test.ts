/** Each rule of the conditional commit is broken on purpose: the search through all orders finds it, and else finds nothing. */
import { describe, expect, test } from 'vitest'
import { attemptsIndex, payloadKey } from '../../../kernel/index.ts'
import type { Attempt, ExecutionId, Tx } from '../../../kernel/index.ts'
import { seededRandom } from '../../../runtime/seeded-random.fixture.ts'
import { PARTITION, call, creation } from '../../store.fixture.ts'
import type { Answer } from '../../store.ts'
import type { Backend, Commit } from '../commit/backend.ts'
import { OrderedProcess, inEveryOrder, inSomeOrders } from './order.fixture.ts'
import type { Order } from './order.fixture.ts'
import { Scene } from './process.fixture.ts'
import { reading, useTestOperations, writing } from './test-operation.fixture.ts'

useTestOperations()

/** What stands between a program and the store. */
type Plant = (backend: Backend, scene: Scene) => Backend

const noPlant: Plant = (backend) => backend

/** A store that gets other commits than its programs have sent. */
function changingCommits(change: (commit: Commit) => Commit): Plant {
  return (backend) => ({
    load: (request) => backend.load(request),
    commit: (commit) => backend.commit(change(commit)),
  })
}

/** A new scene with two programs that have not begun yet. */
function given(plant: Plant) {
  const scene = new Scene()
  const programs = [1, 2].map(() => new OrderedProcess(plant(scene.store, scene), scene.runtime))
  const [a, b] = programs as [OrderedProcess, OrderedProcess]
  const begin = (order: Order) => {
    for (const program of programs) program.order = order
  }
  return { scene, a, b, begin }
}

function valueOf(answer: Answer | undefined): unknown {
  return answer?.kind === 'answered' ? (answer.result as unknown as { readonly value: unknown }).value : undefined
}

describe('an update that is lost', () => {
  /** Both add one to the same number. */
  async function addTwice(order: Order, plant: Plant): Promise<string[]> {
    const { scene, a, b, begin } = given(plant)
    const executionId = await scene.submitted(a)
    const add = writing((tx) => {
      const execution = tx.get('execution', executionId)
      if (execution !== undefined) tx.put(Object.assign(execution, { priority: execution.priority + 1 }))
    })
    begin(order)
    await order.play(
      () => a.run(add),
      () => b.run(add),
    )
    const described = await scene.a.do('describeExecution', { executionId })
    const priority = described.kind === 'described' ? described.execution.priority : undefined
    return priority === 2 ? [] : [`both added one, and the sum is ${priority}`]
  }

  test('is found if versions repeat', async () => {
    const repeated = changingCommits((commit) => ({ ...commit, version: 'always' }))

    const { findings } = await inEveryOrder((order) => addTwice(order, repeated))

    expect(findings).toEqual(['both added one, and the sum is 1'])
  })

  test('is found if a commit compares nothing', async () => {
    const unconditional = changingCommits((commit) => ({ ...commit, conditions: [] }))

    expect((await inEveryOrder((order) => addTwice(order, unconditional))).findings).not.toEqual([])
  })

  test('does not happen in any order', async () => {
    const { findings, orderCount } = await inEveryOrder((order) => addTwice(order, noPlant))

    expect(findings).toEqual([])
    expect(orderCount).toBeGreaterThan(5)
  })
})

describe('a change of a guarded range', () => {
  function attemptOf(executionId: ExecutionId, number: number): Attempt {
    const who = { workerId: 'w', workerInstanceId: 'i' }
    const times = { startedAt: 0, endedAt: 0, epoch: 1 }
    const id = `${executionId} ${number}`
    const outcome = { outcome: 'failed' as const, failure: undefined }
    return { type: 'attempt', id, executionId, number, kind: 'initial', ...times, ...who, ...outcome }
  }

  /** Adds an attempt if there is none. */
  function addFirst(executionId: ExecutionId, number: number, writesGuard: boolean) {
    return writing((tx: Tx) => {
      const execution = tx.get('execution', executionId)
      const isFirst = tx.range({ index: attemptsIndex(executionId), limit: 1 }).length === 0
      if (execution === undefined || !isFirst) return
      const attempt = attemptOf(executionId, number)
      tx.has('attempt', attempt.id)
      tx.put(attempt)
      if (writesGuard) tx.put(execution)
    })
  }

  async function addBoth(order: Order, writesGuard: boolean): Promise<string[]> {
    const { scene, a, b, begin } = given(noPlant)
    const executionId = await scene.submitted(scene.a)
    begin(order)
    await order.play(
      () => a.run(addFirst(executionId, 1, writesGuard)),
      () => b.run(addFirst(executionId, 2, writesGuard)),
    )
    const { records } = await scene.store.dump(PARTITION)
    const count = records.filter(({ type }) => type === 'attempt').length
    return count === 1 ? [] : [`${count} were the first`]
  }

  test('that leaves its guard alone is found', async () => {
    expect((await inEveryOrder((order) => addBoth(order, false))).findings).toEqual(['2 were the first'])
  })

  test('that writes its guard is detected by the other program in every order', async () => {
    expect((await inEveryOrder((order) => addBoth(order, true))).findings).toEqual([])
  })
})

describe('a lock that has expired', () => {
  /** There are thousands in all. */
  const ORDERS = 500

  const unchecked: Plant = (backend, { store }) => ({
    load: (request) => backend.load(request),
    commit: async (commit) => {
      if (commit.lock === undefined) return await backend.commit(commit)
      store.expireLock(commit.partition)
      return await backend.commit({ ...commit, lock: undefined })
    },
  })

  /** One forgets an empty queue under the lock, which expires at any moment; the other one fills the queue. */
  async function forgetAndFill(order: Order, plant: Plant): Promise<string[]> {
    const { scene, a, b, begin } = given(plant)
    const executionId = await scene.submitted(b, { retentionMs: 0 })
    await b.do('cancelExecution', { executionId, reason: 'no', by: 'me', graceMs: 0, force: true })
    begin(order)
    await order.play(
      () => scene.store.expireLock(PARTITION),
      () => b.do('createExecution', creation()),
      () => a.do('purgeExecutions', {}),
    )
    return (await scene.problems()).map((problem) => problem.replaceAll(/0-\d+/g, 'one'))
  }

  test('is found if its token is not checked', async () => {
    const findings = await inSomeOrders(ORDERS, (order) => forgetAndFill(order, unchecked))

    expect(findings).toEqual(['the queue of one is not registered'])
  })

  test('never lets a queue that is in use be forgotten, in any order', async () => {
    expect(await inSomeOrders(ORDERS, (order) => forgetAndFill(order, noPlant))).toEqual([])
  })
})

/** Whether a group of a commit writes a record. */
function writes({ groupOf, records }: Commit, group: number | undefined): boolean {
  return records.some(({ operation }) => groupOf[operation] === group)
}

describe('an answer from two moments', () => {
  /** Takes it that what was read still holds whenever nothing is to be written. */
  const unconfirmed = changingCommits((commit) => ({
    ...commit,
    conditions: commit.conditions.filter(({ operation }) => writes(commit, commit.groupOf[operation])),
  }))

  /** One changes two executions together, the other one reads them, the second when it has seen the first. */
  async function readAndChange(order: Order, plant: Plant): Promise<string[]> {
    const { scene, a, b, begin } = given(plant)
    const ids = [await scene.submitted(scene.a), await scene.submitted(scene.a)]
    let seen: unknown
    const change = writing((tx) => {
      for (const execution of tx.getMany('execution', ids)) tx.put(Object.assign(execution, { priority: 7 }))
    })
    const read = reading((tx) => {
      const first = tx.get('execution', ids[0] ?? '')
      return [first?.priority, first === undefined ? undefined : tx.get('execution', ids[1] ?? '')?.priority]
    })
    begin(order)
    await order.play(
      async () => (seen = valueOf((await a.run(read))[0])),
      () => b.run(change),
    )
    const text = JSON.stringify(seen)
    return ['[0,0]', '[7,7]'].includes(text) ? [] : [`a reader saw ${text}`]
  }

  test('is found if a read is not confirmed', async () => {
    expect((await inEveryOrder((order) => readAndChange(order, unconfirmed))).findings).toEqual(['a reader saw [0,7]'])
  })

  test('is given in no order', async () => {
    expect((await inEveryOrder((order) => readAndChange(order, noPlant))).findings).toEqual([])
  })
})

describe('bytes under a name that is used again', () => {
  /** Replaces the payload of an execution by a longer one; a reader compares what it got with what the record says. */
  async function replaceAndRead(
    order: Order,
    isOneCommit: boolean,
    read: 'claimForWorker' | 'describeExecution',
  ): Promise<string[]> {
    const { scene, a, b, begin } = given(noPlant)
    const payload = { blob: 0, size: 1, encoding: 'bytes' as const }
    const executionId = await scene.submitted(scene.a, { payload }, new Uint8Array(1))
    const resize = (tx: Tx) => {
      const execution = tx.get('execution', executionId)
      if (execution?.state.phase !== 'eligible') return false
      tx.put(Object.assign(execution, { payload: { size: 2, encoding: 'bytes' as const } }))
      return true
    }
    const replaceBytes = (tx: Tx) => {
      tx.forget(payloadKey(executionId))
      tx.keep(payloadKey(executionId), 0)
    }
    const both = writing((tx) => {
      if (resize(tx)) replaceBytes(tx)
    }, new Uint8Array(2))
    let answer: Answer | undefined
    begin(order)
    await order.play(
      async () => {
        const asked =
          read === 'claimForWorker'
            ? call(read, scene.claimInput())
            : call(read, { executionId, payload: true, result: false })
        answer = (await a.run(asked))[0]
      },
      async () => {
        if (isOneCommit) await b.run(both)
        else {
          await b.run(writing(replaceBytes, new Uint8Array(2)))
          await b.run(writing(resize))
        }
      },
    )
    return mismatchIn(answer)
  }

  function mismatchIn(answer: Answer | undefined): string[] {
    if (answer?.kind !== 'answered') return ['nothing was answered']
    const { result, blobs } = answer
    const size =
      result.kind === 'described'
        ? result.execution.payload?.size
        : result.kind === 'claimed'
          ? result.executions[0]?.payload?.size
          : undefined
    return size === blobs[0]?.byteLength ? [] : [`the record says ${size}, there are ${blobs[0]?.byteLength}`]
  }

  test.each(['claimForWorker', 'describeExecution'] as const)('are found by %s', async (read) => {
    const { findings } = await inEveryOrder((order) => replaceAndRead(order, false, read))

    expect(findings).toEqual(['the record says 1, there are 2'])
  })

  test.each(['claimForWorker', 'describeExecution'] as const)('are never given by %s in any order', async (read) => {
    expect((await inEveryOrder((order) => replaceAndRead(order, true, read))).findings).toEqual([])
  })
})

describe('a clock that is ahead', () => {
  const unchecked = changingCommits((commit) => ({ ...commit, lagMs: undefined }))

  /** A holder renews its lease while the clock of the store is set back and forth. Finds refusals of a lease that is alive. */
  async function renewByClock(seed: number, plant: Plant): Promise<string[]> {
    const scene = new Scene()
    const random = seededRandom(seed)
    const holder = new OrderedProcess(plant(scene.store, scene), scene.runtime, { clock: 'server' })
    const held = await scene.held(holder)
    let expiresAt: number = held.leaseExpiresAt
    for (let i = 0; i < 10; i++) {
      scene.runtime.jump(random.between(-20_000, 10_000))
      await scene.runtime.advance(random.between(0, 500))
      const isAlive = scene.runtime.now() < expiresAt
      const result = await holder.do('renewLease', { ...held, leaseTtlMs: 5_000 })
      if (result.kind === 'renewed') expiresAt = result.expiresAt
      if (result.kind === 'renewed' && result.at > scene.runtime.now()) return ['a lease was renewed in the future']
      if (isAlive && result.kind !== 'renewed') return ['a lease that is alive was refused']
      if (!isAlive) return result.kind === 'renewed' ? ['a lease that is over was renewed'] : []
    }
    return []
  }

  async function search(plant: Plant): Promise<Set<string>> {
    const findings = new Set<string>()
    for (let seed = 1; seed <= 20; seed++) {
      for (const finding of await renewByClock(seed, plant)) findings.add(finding)
    }
    return findings
  }

  test('is found if the store does not compare it', async () => {
    expect([...(await search(unchecked))]).toEqual(['a lease was renewed in the future'])
  })

  test('is never believed', async () => {
    expect([...(await search(noPlant))]).toEqual([])
  })
})
