/** Executions carry the version of their task, and a worker claims only the versions that it serves. */
import { describe, expect, test } from 'vitest'
import { flow, task } from '../../src/client/index.ts'
import type { TaskContext } from '../../src/client/index.ts'
import { readyIndex, taskClass } from '../../src/kernel/index.ts'
import type { ExecutionId } from '../../src/kernel/index.ts'
import { CLASS, LANE } from './given.ts'
import { conforms } from './harness.ts'
import { Working } from './working.ts'

const brief = (version?: number) => task<string, string>('brief', version === undefined ? {} : { version })

conforms('a version of a task', ({ fabric, given }) => {
  describe('in the queue', () => {
    const queued = async (version: number | undefined): Promise<ExecutionId> =>
      (await given.eligibleExecution({ class: taskClass(CLASS, version), version })).executionId

    test('has a queue of its own, and executions without a version have the queue of the task', async () => {
      const plain = await queued(undefined)
      const second = await queued(2)

      const { entries } = await fabric.dump()
      const ready = entries.filter(({ index }) => index.startsWith('ready')).map(({ index, id }) => [index, id])
      expect(ready).toEqual(
        expect.arrayContaining([
          [readyIndex(LANE, CLASS), plain],
          [readyIndex(LANE, taskClass(CLASS, 2)), second],
        ]),
      )
      expect(ready).toHaveLength(2)
    })

    test('is returned by a claim of that version only', async () => {
      const second = await queued(2)

      expect((await given.claim()).executions).toEqual([])
      const { executions } = await given.claim({ queues: [{ lane: LANE, class: taskClass(CLASS, 2) }] })

      expect(executions).toMatchObject([{ executionId: second, version: 2 }])
    })

    test('is named by the explanation of a waiting execution', async () => {
      const executionId = await queued(2)

      expect(await fabric.run('explainExecution', { executionId })).toMatchObject({
        explanation: { why: 'waits_for_worker', version: 2, ahead: 0 },
      })
    })
  })

  describe('in a worker', () => {
    test('is served by workers of that version and of later ones', async () => {
      await using working = new Working(fabric)
      const { client } = working
      const submitted = await Promise.all([undefined, 1, 2, 3].map((version) => client.submit(brief(version), 'x')))
      const [plain, first, second, third] = submitted
      working.work([brief(2).handle((_, ctx) => `${ctx.version ?? 'none'} in 2`)])

      const results = await working.until(Promise.all([plain!.result(), first!.result(), second!.result()]))

      expect(results).toEqual(['none in 2', '1 in 2', '2 in 2'])
      expect(await third!.describe()).toMatchObject({ state: 'waiting', version: 3 })
      expect((await third!.why()).text).toContain("version 3 of task 'brief'")
      working.work([brief(3).handle(() => 'in 3')])
      expect(await working.until(third!.result())).toBe('in 3')
    })

    test('is not served by a worker without a version', async () => {
      await using working = new Working(fabric)
      working.work([brief().handle(() => 'old')])
      const versioned = await working.until(working.client.submit(brief(1), 'x'))
      const plain = await working.until(working.client.submit(brief(), 'x'))

      expect(await working.until(plain.result())).toBe('old')
      await working.elapse(5_000)
      expect(await versioned.state()).toBe('waiting')
    })

    test('is served by the handler that names it', async () => {
      await using working = new Working(fabric)
      working.work([
        brief(2).handle({ versions: [0, 1] }, () => 'the old way'),
        brief(2).handle({ versions: [2] }, () => 'the new way'),
      ])
      const executions = await working.until(
        Promise.all([undefined, 1, 2].map((version) => working.client.submit(brief(version), 'x'))),
      )

      const results = await working.until(Promise.all(executions.map((execution) => execution.result())))

      expect(results).toEqual(['the old way', 'the old way', 'the new way'])
    })

    test('is kept by members of flows, declared and added, and by a replay', async () => {
      await using working = new Working(fabric)
      const seen: unknown[] = []
      const see = (ctx: TaskContext) => seen.push([ctx.node, ctx.version])
      const adding = task<string, string>('adding', { version: 4 })
      working.work([
        brief(3).handle((input, ctx) => {
          see(ctx)
          return input
        }),
        adding.handle(async (_, ctx) => {
          see(ctx)
          await ctx.flow.add('added', brief(2), 'x')
          return 'added'
        }),
      ])

      const handle = await working.until(
        working.client.submit(
          flow('versions', (f) => {
            f.node('declared', brief(1), { input: 'x' })
            f.node('adding', adding, { input: 'x' })
          }),
          {},
        ),
      )
      await working.until(handle.wait())
      const again = await working.until(working.client.submit(brief(1), 'x'))
      await working.until(again.result())
      await working.until(again.replay())
      await working.until(again.result())

      expect(seen).toEqual(
        expect.arrayContaining([
          ['declared', 1],
          ['adding', 4],
          ['added', 2],
        ]),
      )
      expect(seen.slice(-2)).toEqual([
        [undefined, 1],
        [undefined, 1],
      ])
    })
  })
})
