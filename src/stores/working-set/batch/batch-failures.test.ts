/** What a batch answers when a store refuses, fails or is set back, or when one of its operations throws. */
import { describe, expect, test } from 'vitest'
import { laneIndex, queueId } from '../../../kernel/index.ts'
import type { Tx } from '../../../kernel/index.ts'
import { EngineError } from '../../../kernel/engine-error.ts'
import { PARTITION, call, creation, kindsOf } from '../../store.fixture.ts'
import type { Call } from '../../store.ts'
import type { Commit, CommitReply } from '../commit/backend.ts'
import { Process } from './process.fixture.ts'
import { a, b, scene, useScene } from './scene.fixture.ts'
import { useTestOperations, writing } from './test-operation.fixture.ts'

useTestOperations()
useScene({ clock: 'server' })

/** The longest that a lock lasts. */
const LOCK_MAX_MS = 1_000

/** Takes the lock of the partition as a program that then stands still. */
async function standStillWithLock(): Promise<void> {
  const stopped = new Process(scene.store, scene.runtime)
  const standing = new Promise<void>((resolve) => {
    stopped.beforeCommit(() => {
      resolve()
      return new Promise(() => undefined)
    })
  })
  void stopped.run(decideUnguarded())
  await standing
}

function putQueue(tx: Tx): void {
  tx.put({
    type: 'queue',
    id: queueId('side', 'greet'),
    lane: 'side',
    class: 'greet',
    createdAt: tx.now,
    needs: undefined,
    keeps: undefined,
  })
}

/** Writes by a range that no record guards. */
function decideUnguarded(act: () => void = () => undefined): Call {
  return writing((tx) => {
    tx.countUpTo({ index: laneIndex('main', 'active'), limit: 1 })
    putQueue(tx)
    act()
  })
}

const THROWS: Call = writing(() => {
  throw new Error('it cannot')
})

describe('a clock that the store refuses', () => {
  test.each([
    ['ahead of the store', -5_000],
    ['too far behind the store', 5_000],
  ])('is estimated anew when it is %s', async (_, ms) => {
    const held = await scene.held(a)
    scene.runtime.jump(ms)

    expect((await a.do('updateProgress', { ...held, percent: 1 })).kind).toBe('updated')

    expect(a.commitCount).toBe(2)
    expect(a.commits[1]?.now).toBe(scene.runtime.now())
    expect(await scene.eventsOf('progress_updated')).toHaveLength(1)
    a.reset()
    await a.do('updateProgress', { ...held, percent: 2 })
    expect(a.trips).toEqual({ loads: 0, commits: 1 })
  })
})

describe('a store that was set back', () => {
  /** A store whose newest event has the number that a test says. */
  class SetBack extends Process {
    sequence: number | undefined

    override async commit(commit: Commit): Promise<CommitReply> {
      const reply = await super.commit(commit)
      return reply.kind === 'applied' ? { ...reply, lastSequence: this.sequence ?? reply.lastSequence } : reply
    }
  }

  test('has a program forget its records once it sees a lower number of events', async () => {
    const program = new SetBack(scene.store, scene.runtime)
    const held = await scene.held(program)
    program.sequence = 1
    await program.do('updateProgress', { ...held, percent: 1 })
    program.reset()

    await program.do('setTags', { executionId: await scene.submitted(b), set: [], remove: [] })
    await program.do('renewLease', { ...held, leaseTtlMs: 30_000 })

    // The commit itself has written the execution, so that alone is known.
    expect(program.trips).toEqual({ loads: 1, commits: 1 })
    program.reset()
    await scene.submitted(program)
    expect(program.loadCount).toBe(1)
  })

  test('has a program forget its records once it sees an earlier time', async () => {
    await scene.submitted(a)
    const held = await scene.held(a)
    scene.runtime.jump(-3_600_000)
    await a.do('describeExecution', { executionId: held.executionId })
    a.reset()

    await a.do('updateProgress', { ...held, percent: 1 })

    expect(a.trips).toEqual({ loads: 1, commits: 1 })
  })
})

describe('contention', () => {
  /** A store on which one execution changes before every commit. */
  class Contended extends Process {
    contendedId = ''

    override async commit(commit: Commit): Promise<CommitReply> {
      const reply = await super.commit({
        ...commit,
        conditions: commit.conditions.map((condition) => ({
          ...condition,
          version: condition.id === this.contendedId ? 'another' : condition.version,
        })),
      })
      return reply
    }
  }

  test('ends in an error that is retryable', async () => {
    const program = new Contended(scene.store, scene.runtime)
    program.contendedId = await scene.submitted(b)

    const tried = program.do('setTags', {
      executionId: program.contendedId as never,
      set: [{ name: 'x', value: 'y', indexed: false }],
      remove: [],
    })

    await expect(tried).rejects.toThrow('Too many processes change the same records of partition fp:0')
    const error = await tried.catch((thrown: unknown) => thrown)
    expect(error instanceof EngineError && error.isRetryable).toBe(true)
    expect(program.commitCount).toBeLessThanOrEqual(40)
    expect(await scene.eventsOf('tags_set')).toEqual([])
  })

  test('of one operation leaves the others answered', async () => {
    const program = new Contended(scene.store, scene.runtime)
    const executionId = await scene.submitted(b)
    program.contendedId = executionId

    const answers = await program.run(
      call('setTags', { executionId, set: [{ name: 'x', value: 'y', indexed: false }], remove: [] }),
      call('createExecution', creation()),
    )

    expect(kindsOf(answers)).toEqual(['not_run', 'created'])
    expect(await scene.eventsOf('execution_created')).toHaveLength(2)
  })
})

describe('a store that fails', () => {
  test('fails a batch of which nothing was applied', async () => {
    a.beforeCommit(() => {
      throw new Error('cut off')
    })

    await expect(a.run(call('createExecution', creation()))).rejects.toThrow('cut off')
  })

  test('leaves what was applied before answered, and the rest not run', async () => {
    const [held, { executionId: other }] = [await scene.held(a), await scene.held(a)]
    const tags = [{ name: 'x', value: 'y', indexed: false }]
    a.beforeCommit(() => b.do('setTags', { executionId: other, set: tags, remove: [] }))
    a.beforeCommit(() => {
      throw new Error('cut off')
    }, 1)

    const answers = await a.run(
      call('setTags', { executionId: other, set: [], remove: ['x'] }),
      call('updateProgress', { ...held, percent: 1 }),
    )

    expect(kindsOf(answers)).toEqual(['not_run', 'updated'])
  })
})

describe('an operation that throws', () => {
  test('fails alone', async () => {
    const held = await scene.held(a)

    const answers = await a.run(call('createExecution', creation()), THROWS, call('completeExecution', held))

    expect(answers[1]).toMatchObject({ kind: 'fault', reason: 'writeInTest failed: it cannot' })
    expect(kindsOf(answers)).toEqual(['created', 'fault', 'completed'])
    expect(await scene.eventsOf('execution_ended')).toHaveLength(1)
  })

  test('does not have others run again that were applied before', async () => {
    const [held, other] = [await scene.held(a), await scene.submitted(a)]
    const tags = [{ name: 'x', value: 'y', indexed: false }]
    const throwsWhenTagged = writing((tx) => {
      if (tx.get('execution', other)?.tags.length === 1) throw new Error('it cannot')
      putQueue(tx)
    })
    a.beforeCommit(() => b.do('setTags', { executionId: other, set: tags, remove: [] }))

    const answers = await a.run(
      call('updateProgress', { ...held, percent: 1 }),
      throwsWhenTagged,
      call('updateProgress', { ...held, percent: 2 }),
    )

    expect(kindsOf(answers)).toEqual(['updated', 'fault', 'updated'])
    const progress = await scene.eventsOf('progress_updated')
    expect(progress.map(({ percent }) => percent)).toEqual([1, 2])
  })

  test('under the lock releases it', async () => {
    const throwsUnderLock = decideUnguarded(() => {
      if (a.hasAskedForLock) throw new Error('it cannot')
    })

    expect(kindsOf(await a.run(throwsUnderLock))).toEqual(['fault'])

    expect(scene.store.expireLock(PARTITION)).toBe(false)
  })
})

describe('a program that stands still with the lock', () => {
  test('holds others up until its lock expires, and no longer', async () => {
    await standStillWithLock()
    const since = scene.runtime.monotonic()
    scene.runtime.after(LOCK_MAX_MS, () => scene.store.expireLock(PARTITION))

    const result = await a.do('createExecution', creation())

    expect(result.kind).toBe('created')
    expect(scene.runtime.monotonic() - since).toBeLessThan(LOCK_MAX_MS + 20)
  })

  test('does not hold up renewals that travel with other work', async () => {
    const held = await scene.held(a)
    await standStillWithLock()
    let expiry: number | undefined
    const look = async () => {
      const { records } = await scene.store.dump(PARTITION)
      const execution = records.find(({ id }) => id === held.executionId)
      if (execution?.type === 'execution' && execution.state.phase === 'active')
        expiry = execution.state.lease.expiresAt
      scene.store.expireLock(PARTITION)
    }
    scene.runtime.after(200, () => void look())

    const answers = await a.run(
      call('createExecution', creation()),
      call('renewLease', { ...held, leaseTtlMs: 60_000 }),
    )

    expect(kindsOf(answers)).toEqual(['created', 'renewed'])
    expect(expiry).toBeGreaterThan(held.leaseExpiresAt)
    expect(a.commits.filter(({ passesLock }) => passesLock)).toHaveLength(1)
  })

  test('fails who waits for too long', async () => {
    await standStillWithLock()

    await expect(a.do('createExecution', creation())).rejects.toThrow('Try again')
    await expect(a.run(decideUnguarded())).rejects.toThrow('Try again')
    scene.store.expireLock(PARTITION)
  })
})
