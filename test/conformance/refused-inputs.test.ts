/** An input that does not fit the schemas of a worker is offered to other workers, with a growing delay and a bounded number of times. */
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { allOf, flow, task } from '../../src/client/index.ts'
import type { ExecutionHandle } from '../../src/client/index.ts'
import type { ExecutionId, InputRefusal } from '../../src/kernel/index.ts'
import { CLASS, politeCancel } from './given.ts'
import { conforms } from './harness.ts'
import { Working } from './working.ts'

const limits: InputRefusal = { build: 'b1', countLimit: 12, buildLimit: 3 }
const reason = 'input.box: Required'

conforms('an input that a worker refuses', ({ fabric, given, flows, clock }) => {
  /** Claims the execution as soon as its delay is over, and refuses it. */
  const refuse = async (executionId: ExecutionId, refusal: Partial<InputRefusal> = {}) => {
    const { state } = await fabric.look(executionId)
    if (state.phase === 'delayed') clock.advanceTo(state.until)
    const held = await given.claimOf({ executionId })
    return fabric.run('releaseExecution', { ...held, reason, refusal: { ...limits, ...refusal } })
  }

  describe('in the kernel', () => {
    test('is released with a delay that doubles, and no attempt is used up', async () => {
      const { executionId } = await given.eligibleExecution()
      const delays: number[] = []
      for (let i = 0; i < 11; i++) {
        expect(await refuse(executionId)).toEqual({ kind: 'released' })
        const { state } = await fabric.look(executionId)
        delays.push(state.phase === 'delayed' ? state.until - clock.now() : 0)
      }

      expect(delays.map((ms) => ms / 1_000)).toEqual([1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300])
      expect(await fabric.look(executionId)).toMatchObject({
        failureCount: 0,
        reclaimCount: 0,
        attempt: { number: 1, usedMs: 0 },
        refusals: { count: 11, builds: ['b1'], reason, at: clock.now() },
      })
    })

    test('fails its execution after the given number of refusals', async () => {
      const { executionId } = await given.eligibleExecution()
      await refuse(executionId, { countLimit: 2 })

      expect(await refuse(executionId, { countLimit: 2 })).toEqual({ kind: 'failed' })

      expect(await fabric.look(executionId)).toMatchObject({
        state: { phase: 'ended', outcome: 'failed', reason },
        failure: { category: 'input_refused', message: reason },
        refusals: { count: 2 },
      })
      expect(await fabric.attemptsOf(executionId)).toMatchObject([{ number: 1, outcome: 'failed' }])
    })

    test('fails its execution after refusals by the given number of builds', async () => {
      const { executionId } = await given.eligibleExecution()
      for (const build of ['b1', 'b1', 'b2', 'b1']) {
        expect(await refuse(executionId, { build })).toEqual({ kind: 'released' })
      }

      expect(await refuse(executionId, { build: 'b3' })).toEqual({ kind: 'failed' })
      expect((await fabric.look(executionId)).refusals).toMatchObject({ count: 5, builds: ['b1', 'b2', 'b3'] })
    })

    test('is idempotent per fence, both times', async () => {
      const held = await given.activeExecution()
      const call = (refusal: InputRefusal) => fabric.run('releaseExecution', { ...held, reason, refusal })

      expect([await call(limits), await call(limits)]).toEqual([{ kind: 'released' }, { kind: 'already_released' }])
      const last = await given.activeExecution()
      const end = () => fabric.run('releaseExecution', { ...last, reason, refusal: { ...limits, countLimit: 1 } })
      expect([await end(), await end()]).toEqual([{ kind: 'failed' }, { kind: 'already_failed' }])
    })

    test('is named by the events and by the explanation', async () => {
      const { executionId } = await given.eligibleExecution()
      await refuse(executionId)

      const { state } = await fabric.look(executionId)
      expect(await given.eventsOf({ executionId }, 'execution_delayed')).toMatchObject([
        { reason, category: 'input_refused', until: clock.now() + 1_000 },
      ])
      expect(state).toMatchObject({ phase: 'delayed', cause: 'worker' })
      expect(await fabric.run('explainExecution', { executionId })).toMatchObject({
        explanation: { why: 'delayed', refusals: { count: 1, builds: ['b1'], reason } },
      })
      clock.advance(1_000)
      await fabric.duePass()
      expect(await fabric.run('explainExecution', { executionId })).toMatchObject({
        explanation: { why: 'waits_for_worker', refusals: { count: 1 } },
      })
    })

    test('counts anew after the handler has run', async () => {
      const { executionId } = await given.eligibleExecution()
      await refuse(executionId)
      clock.advance(1_000)
      const held = await given.claimOf({ executionId })
      await fabric.run('delayExecution', { ...held, delayMs: 0 })

      expect((await fabric.look(executionId)).refusals).toBeUndefined()
      await refuse(executionId)
      expect((await fabric.look(executionId)).refusals).toMatchObject({ count: 1 })
    })

    test('counts anew after a replay', async () => {
      const { executionId } = await given.eligibleExecution()
      await refuse(executionId, { countLimit: 1 })

      await fabric.run('replayExecution', { executionId, requestId: given.requestId() })

      expect((await fabric.look(executionId)).refusals).toBeUndefined()
    })

    test('does not outlast a cancel request', async () => {
      const held = await given.activeExecution()
      await fabric.run('cancelExecution', { executionId: held.executionId, ...politeCancel })

      expect(await fabric.run('releaseExecution', { ...held, reason, refusal: limits })).toEqual({ kind: 'cancelled' })
    })

    test('fails a member, and its flow applies the consequences', async () => {
      const graph = await flows.graph({ a: [], b: ['a'] }, { class: CLASS })
      await refuse(graph.id('a'), { countLimit: 1 })

      expect((await fabric.look(graph.id('b'))).state).toMatchObject({ phase: 'ended', outcome: 'skipped' })
    })
  })

  describe('of a worker', () => {
    const old = task('resize', { input: z.object({ width: z.number() }) })
    const current = task('resize', { input: z.object({ box: z.string() }) })

    const refused = async (working: Working, execution: Pick<ExecutionHandle, 'describe'>) => {
      while ((await working.until(execution.describe())).refusals === undefined) await working.elapse(10)
    }

    test('is run by another build, without a failure', async () => {
      await using working = new Working(fabric)
      const worker = working.work([old.handle(() => 'old')], { build: 'old' })
      const execution = await working.until(working.client.submit(current, { box: '3x4' }))
      await refused(working, execution)

      expect(await execution.describe()).toMatchObject({ failureCount: 0, refusals: { builds: ['old'] } })
      await working.until(worker.close())
      expect((await working.until(execution.why())).text).toContain('Workers refused it')
      working.work([current.handle(({ box }) => `${box} in the new build`)], { build: 'new' })

      expect(await working.until(execution.result())).toBe('3x4 in the new build')
      expect(await execution.describe()).toMatchObject({ failureCount: 0, attempt: 1 })
    })

    test('fails its execution after the setting', async () => {
      await using working = new Working(fabric)
      working.work([old.handle(() => 'old')], { refusals: { limit: 2 } })
      const execution = await working.until(working.client.submit(current, { box: '3x4' }))

      const { state, failure } = await working.until(execution.wait())

      expect([state, failure?.category]).toEqual(['failed', 'input_refused'])
      expect(failure?.message).toContain('width')
    })

    test('may be the result of an upstream', async () => {
      await using working = new Working(fabric)
      const upstream = task<undefined, { box: string }>('upstream')
      const receiver = (inputs: z.ZodType) => task('receiver', { inputs: { size: inputs } })
      const oldReceiver = receiver(z.object({ width: z.number() }))
      const newReceiver = receiver(z.object({ box: z.string() }))
      const handlers = [upstream.handle(() => ({ box: '3x4' })), oldReceiver.handle(() => 'old')]
      const worker = working.work(handlers, { build: 'old' })
      const handle = await working.until(
        working.client.submit(
          flow('sizes', (f) => {
            const size = f.node('size', upstream)
            return f.node('receiver', newReceiver, { after: allOf(size) })
          }),
          undefined,
        ),
      )
      await refused(working, handle.member('receiver'))
      await working.until(worker.close())
      working.work([newReceiver.handle((_, { inputs }) => JSON.stringify(inputs))], { build: 'new' })

      expect(await working.until(handle.result())).toBe('{"size":{"box":"3x4"}}')
    })
  })
})
