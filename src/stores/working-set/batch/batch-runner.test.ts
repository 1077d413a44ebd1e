import { beforeEach, describe, expect, test } from 'vitest'
import { payloadKey } from '../../../kernel/index.ts'
import type { Claimed, ExecutionId } from '../../../kernel/index.ts'
import { PARTITION, call, creation, kindsOf } from '../../store.fixture.ts'
import type { Answer } from '../../store.ts'
import { a, b, mark, scene, useScene } from './scene.fixture.ts'

const BY_HAND = { reason: 'no', by: 'me', graceMs: 1_000 }
const NOTHING = { loads: 0, commits: 0 }

useScene({ clock: 'server' })

async function markOf(executionId: ExecutionId): Promise<string | undefined> {
  const result = await b.do('describeExecution', { executionId })
  return result.kind === 'described' ? result.execution.tags[0]?.value : undefined
}

describe('what is known need not be loaded', () => {
  test('a new execution for a known queue is one commit', async () => {
    await scene.submitted(a)
    expect(a.trips).toEqual({ loads: 1, commits: 1 })
    a.reset()

    await scene.submitted(a)

    expect(a.trips).toEqual({ loads: 0, commits: 1 })
  })

  test.each([
    ['completes', (held: Claimed) => call('completeExecution', held), 'completed'],
    ['renews', (held: Claimed) => call('renewLease', { ...held, leaseTtlMs: 30_000 }), 'renewed'],
    ['reports progress', (held: Claimed) => call('updateProgress', { ...held, percent: 50 }), 'updated'],
  ])('the holder of a lease %s with one commit', async (_, callOf, kind) => {
    const held = await scene.held(a)

    expect(kindsOf(await a.run(callOf(held)))).toEqual([kind])

    expect(a.trips).toEqual({ loads: 0, commits: 1 })
  })

  test('a claim is one load and one commit, which brings the payload', async () => {
    const payload = { blob: 0, size: 3, encoding: 'bytes' as const }
    await scene.submitted(a, { payload }, new Uint8Array([1, 2, 3]))

    const [answer] = await b.run(call('claimForWorker', scene.claimInput()))

    expect(answer).toMatchObject({ kind: 'answered', result: { executions: [{ payloadBlob: 0 }] } })
    expect(answer).toMatchObject({ blobs: [new Uint8Array([1, 2, 3])] })
    expect(b.trips).toEqual({ loads: 1, commits: 1 })
  })

  test.each(['claimForWorker', 'runDue'] as const)(
    'work whose delay is over costs a %s one load and one commit, if other timers are still running',
    async (operation) => {
      for (const delayMs of [1_000, 2_000, 60_000]) await scene.submitted(a, { delayMs })
      await scene.runtime.advance(2_000)

      const due = operation === 'runDue' ? call('runDue', { limit: 10, seed: 1 }) : undefined
      const [answer] = await b.run(due ?? call('claimForWorker', scene.claimInput()))

      const result = { ...(due === undefined ? { executions: [{}, {}] } : { handled: [{}, {}] }) }
      expect(answer).toMatchObject({ kind: 'answered', result })
      expect(b.trips).toEqual({ loads: 1, commits: 1 })
    },
  )

  test('a claim that travels with a submit is one commit where nothing else was ready or due', async () => {
    await b.do('claimForWorker', scene.claimInput())
    await scene.submitted(b)
    await b.do('claimForWorker', scene.claimInput())
    await b.do('claimForWorker', scene.claimInput())
    b.reset()

    const payload = { blob: 0, size: 3, encoding: 'bytes' as const }
    const [, answer] = await b.run(
      call('createExecution', creation({ payload }), new Uint8Array([1, 2, 3])),
      call('claimForWorker', scene.claimInput()),
    )

    expect(answer).toMatchObject({ result: { executions: [{}], more: false }, blobs: [new Uint8Array([1, 2, 3])] })
    expect(b.trips).toEqual({ loads: 0, commits: 1 })
  })

  test('a snapshot that one load answers is confirmed by nothing', async () => {
    const executionId = await scene.submitted(a)

    await b.do('describeExecution', { executionId })

    expect(b.trips).toEqual({ loads: 1, commits: 0 })
  })

  test('a refusal that follows from what is remembered counts only if it still holds', async () => {
    const { executionId } = await scene.held(a)
    await b.do('cancelExecution', { executionId, ...BY_HAND, force: true })

    const result = await a.do('replayExecution', { executionId, requestId: 'replay' })

    expect(result.kind).toBe('replayed')
  })

  test('what a process holds is remembered until it has ended, what waits for a worker is not', async () => {
    const [held, waiting] = [await scene.held(a), await scene.submitted(a)]
    a.reset()

    await a.run(mark(held.executionId, 'a'))
    expect(a.trips).toEqual({ loads: 0, commits: 1 })
    await a.run(mark(waiting, 'a'))
    expect(a.trips).toEqual({ loads: 1, commits: 2 })
    await a.do('completeExecution', held)
    expect(a.trips).toEqual({ loads: 1, commits: 3 })
    await a.run(mark(held.executionId, 'again'))
    expect(a.trips).toEqual({ loads: 2, commits: 4 })
  })

  test('an id that a process has used before is not taken to be new', async () => {
    const input = creation()
    await a.do('createExecution', input)
    a.reset()

    await a.do('createExecution', { ...input, requestId: 'again' })

    expect(a.trips).toEqual({ loads: 1, commits: 0 })
    expect(a.counts.conflicts).toBe(0)
  })

  test('an id that was taken to be new and is not answers as a repetition', async () => {
    const input = creation()
    await a.do('createExecution', input)

    const [first, again] = [await b.do('createExecution', input), await b.do('createExecution', input)]

    expect([first.kind, again.kind]).toEqual(['created', 'created'])
    expect(await scene.eventsOf('execution_created')).toHaveLength(1)
  })

  test('what no operation asks for is neither loaded nor committed', async () => {
    expect(await a.run()).toEqual([])
    expect(a.trips).toEqual(NOTHING)
  })
})

describe('a record that changes between load and commit', () => {
  test('has the completion run again behind a cancel, and refused', async () => {
    const held = await scene.held(a)
    a.beforeCommit(() => b.do('cancelExecution', { executionId: held.executionId, ...BY_HAND, force: true }))

    const result = await a.do('completeExecution', held)

    expect(result).toMatchObject({ kind: 'refused', code: 'execution_not_active' })
    expect(await scene.eventsOf('execution_ended')).toMatchObject([{ outcome: 'cancelled' }])
  })

  test('has the cancel run again behind a completion, and refused', async () => {
    const held = await scene.held(a)
    b.beforeCommit(() => a.do('completeExecution', held))

    const result = await b.do('cancelExecution', { executionId: held.executionId, ...BY_HAND, force: true })

    expect(result).toMatchObject({ kind: 'refused', code: 'execution_ended' })
    expect(await scene.eventsOf('execution_ended')).toMatchObject([{ outcome: 'completed' }])
  })

  test('is claimed by one of two', async () => {
    await scene.submitted(a)
    b.beforeCommit(() => a.do('claimForWorker', scene.claimInput()))

    const { executions } = await b.do('claimForWorker', scene.claimInput())

    expect(executions).toEqual([])
    expect(await scene.eventsOf('attempt_started')).toHaveLength(1)
  })
})

describe('a blob that comes with a commit', () => {
  const bytes = (first: number) => new Uint8Array([first, 2, 3])
  const withPayload = (first: number) => {
    const input = creation({ payload: { blob: 0, size: 3, encoding: 'bytes' } })
    return { input, call: call('createExecution', input, bytes(first)) }
  }

  test('is that of the record that the commit has confirmed, if it is replaced meanwhile', async () => {
    const { input, call: create } = withPayload(1)
    await a.run(create)
    const replacement = { ...input, requestId: 'another', ifExists: 'replace' } as const
    b.beforeCommit(() => a.do('createExecution', replacement, bytes(9)))

    const [answer] = await b.run(call('claimForWorker', scene.claimInput()))

    expect(answer).toMatchObject({ blobs: [bytes(9)] })
    expect(await scene.eventsOf('attempt_started')).toHaveLength(1)
  })

  test('and that was removed outside is missing in the answer, and in no other', async () => {
    const created = [withPayload(1), withPayload(2), withPayload(3)]
    await a.run(...created.map((one) => one.call))
    const lost = created[1]!.input.executionId
    scene.store.blobsOf(PARTITION).delete(payloadKey(lost))

    const answers = await b.run(withPayload(4).call, call('claimForWorker', scene.claimInput()))

    expect(kindsOf(answers)).toEqual(['created', 'claimed'])
    const { result, blobs } = answers[1] as Answer<'claimForWorker'> & { kind: 'answered' }
    const payload = { size: 3, encoding: 'bytes' }
    expect(result.executions).toMatchObject([
      { payload },
      { payload, payloadBlob: undefined },
      { payload },
      { payload },
    ])
    expect(result.executions.map(({ payloadBlob = -1 }) => blobs[payloadBlob]?.[0])).toEqual([1, undefined, 3, 4])
    expect(b.trips).toEqual({ loads: 1, commits: 1 })
    expect(await scene.eventsOf('attempt_started')).toHaveLength(4)
  })
})

describe('a claim that believes that nothing else is ready', () => {
  beforeEach(async () => {
    await scene.submitted(b)
    await b.do('claimForWorker', scene.claimInput())
    await b.do('claimForWorker', scene.claimInput())
    b.reset()
  })

  test('runs again with a look at the store if something is', async () => {
    const older = await scene.submitted(a)

    const input = creation()
    const answers = await b.run(call('createExecution', input), call('claimForWorker', scene.claimInput(1)))

    expect(answers[1]).toMatchObject({ result: { executions: [{ executionId: older }], more: true } })
    expect(b.trips).toEqual({ loads: 1, commits: 2 })
  })

  test('runs again if something is due', async () => {
    const delayed = await scene.submitted(a, { delayMs: 1_000 })
    await scene.runtime.advance(1_000)

    const answers = await b.run(call('createExecution', creation()), call('claimForWorker', scene.claimInput(10)))

    const { result } = answers[1] as { readonly result: { readonly executions: readonly Claimed[] } }
    expect(result.executions.map(({ executionId }) => executionId)).toContain(delayed)
    expect(result.executions).toHaveLength(2)
  })

  test('does not make the records that it read count as contended', async () => {
    for (let i = 0; i < 3; i++) {
      await scene.submitted(a)
      await b.run(call('createExecution', creation()), call('claimForWorker', scene.claimInput(10)))
      await b.do('claimForWorker', scene.claimInput())
    }

    expect(b.hasAskedForLock).toBe(false)
  })
})

test('a process remembers what it has read, once a commit has compared it', async () => {
  await scene.submitted(a)
  await scene.submitted(b)
  b.reset()

  await scene.submitted(b)

  expect(b.trips).toEqual({ loads: 0, commits: 1 })
})

describe('a group that fails', () => {
  test('leaves the others applied, each once and in order, and answered at once', async () => {
    const [first, last, changed] = [await scene.held(a), await scene.held(a), await scene.submitted(a)]
    a.reset()
    a.beforeCommit(() => b.run(mark(changed, 'b')))

    const answers = await a.run(
      call('updateProgress', { ...first, percent: 1 }),
      mark(changed, 'a'),
      call('updateProgress', { ...last, percent: 2 }),
    )

    expect(kindsOf(answers)).toEqual(['updated', 'set', 'updated'])
    expect(a.commits.map(({ groupCount }) => groupCount)).toEqual([3, 1])
    expect(a.earlyAnswers).toEqual([
      { call: 0, commits: 1 },
      { call: 2, commits: 1 },
    ])
    const progress = await scene.eventsOf('progress_updated')
    expect(progress.map(({ executionId }) => executionId)).toEqual([first.executionId, last.executionId])
    expect(await markOf(changed)).toBe('a')
  })

  test('takes along what came behind it on the same record, and all run again in order', async () => {
    const [held, changed] = [await scene.held(a), await scene.submitted(a)]
    a.reset()
    const [other, first, second] = ['b', 'first', 'second'].map((value) => ({ name: value, value, indexed: false }))
    const tag = (tags: readonly (typeof other)[]) =>
      call('setTags', { executionId: changed, set: tags.filter((one) => one !== undefined), remove: [] })
    a.beforeCommit(() => b.run(tag([other])))

    const answers = await a.run(tag([first]), call('updateProgress', { ...held, percent: 1 }), tag([second]))

    // Each sees what came before it: the change of the other program, then that of the first.
    expect(answers[0]).toMatchObject({ result: { tags: [other, first] } })
    expect(answers[2]).toMatchObject({ result: { tags: [other, first, second] } })
    expect(a.commits.map(({ groupCount }) => groupCount)).toEqual([2, 1])
    expect(await scene.eventsOf('tags_set')).toHaveLength(3)
    expect(await scene.eventsOf('progress_updated')).toHaveLength(1)
  })

  test('counts as a conflict of each of its operations', async () => {
    const [held, changed] = [await scene.held(a), await scene.submitted(a)]
    const before = a.counts
    a.beforeCommit(() => b.run(mark(changed, 'b')))

    await a.run(mark(changed, 'first'), call('updateProgress', { ...held, percent: 1 }), mark(changed, 'second'))

    expect(a.counts).toEqual({ operations: before.operations + 3, conflicts: before.conflicts + 2 })
  })

  test('takes along who claimed what it creates', async () => {
    await scene.submitted(a)
    const input = creation({ lane: 'side' })
    const queues = [{ lane: 'side', class: 'greet' }]
    a.beforeCommit(() => b.do('createExecution', { ...input, requestId: 'another' }))

    const answers = await a.run(
      call('createExecution', input),
      call('claimForWorker', { ...scene.claimInput(), queues }),
    )

    expect(kindsOf(answers)).toEqual(['joined', 'claimed'])
    expect(await scene.eventsOf('execution_created')).toHaveLength(2)
    expect(await scene.eventsOf('attempt_started')).toHaveLength(1)
  })
})
