import { expect, test } from 'vitest'
import { task } from '../../client/index.ts'
import type { ProgressReport, TaskContext } from '../../client/index.ts'
import { PROGRESS_MESSAGE_BYTES } from '../../kernel/index.ts'
import { ProgressReporter, parseProgress } from './progress.ts'
import { createWorld } from '../worker.fixture.ts'

/** A reporter whose calls the test resolves one by one. */
function reporter() {
  const sent: ProgressReport[] = []
  const answers: (() => void)[] = []
  const progress = new ProgressReporter((report) => {
    sent.push(report)
    return new Promise((resolve) => answers.push(resolve))
  })
  const answer = async () => {
    answers.shift()?.()
    await turn()
  }
  return { progress, sent, answer }
}

/** Runs pending microtasks. */
async function turn(): Promise<void> {
  for (let i = 0; i < 10; i++) await Promise.resolve()
}

test('reports of one moment are merged into one call', async () => {
  const { progress, sent } = reporter()

  void progress.report({ percent: 1 })
  void progress.report({ message: 'begun' })
  void progress.report({ percent: 2 })
  await turn()

  expect(sent).toEqual([{ percent: 2, message: 'begun' }])
})

test('while a call is under way reports wait and are merged, and the last one is never lost', async () => {
  const { progress, sent, answer } = reporter()
  void progress.report({ percent: 1 })
  await turn()

  let isStored = false
  for (let percent = 2; percent <= 50; percent++) void progress.report({ percent })
  void progress.report({ percent: 51 }).then(() => (isStored = true))
  await turn()
  expect(sent).toEqual([{ percent: 1 }])
  await answer()

  expect(sent).toEqual([{ percent: 1 }, { percent: 51 }])
  expect(isStored).toBe(false)
  await answer()
  expect(isStored).toBe(true)
})

test('flush waits for the pending call and for the merged one after it', async () => {
  const { progress, answer } = reporter()
  void progress.report({ percent: 1 })
  await turn()
  void progress.report({ percent: 2 })
  let isSettled = false
  void progress.flush().then(() => (isSettled = true))

  await answer()
  expect(isSettled).toBe(false)
  await answer()
  expect(isSettled).toBe(true)
})

test('a report is a percentage, a percentage with a message, or both by name', () => {
  expect(parseProgress(50)).toEqual({ percent: 50 })
  expect(parseProgress(50, 'half')).toEqual({ percent: 50, message: 'half' })
  expect(parseProgress({ message: 'no idea how far' })).toEqual({ message: 'no idea how far' })
})

test.each([-1, 101, Number.NaN, '50', null])('%s is no progress', (percent) => {
  expect(() => parseProgress(percent)).toThrow('progress')
})

test('a long message is cut', () => {
  const { message } = parseProgress(1, 'ü'.repeat(PROGRESS_MESSAGE_BYTES))

  expect(Buffer.byteLength(message!)).toBe(PROGRESS_MESSAGE_BYTES)
})

const stepped = task<number, number>('stepped')

test('progress is stored and emitted as an event while the handler runs', async () => {
  await using world = createWorld()
  world.work([
    stepped.handle(async (_, context) => {
      await context.progress(40, 'half way')
      return new Promise<number>(() => undefined)
    }),
  ])

  const execution = await world.fabric.submit(stepped, 1)
  await world.settle()

  expect((await execution.describe()).progress).toMatchObject({ percent: 40, message: 'half way' })
  const { events } = await world.store.readEvents('fp:0', 0, 100)
  expect(events.at(-1)).toMatchObject({ type: 'progress_updated', percent: 40, reason: 'half way' })
})

test('a wrong report rejects and does no other harm', async () => {
  await using world = createWorld()
  world.work([
    stepped.handle(async (_, context) => {
      void context.progress(700)
      await expect(context.progress(700)).rejects.toMatchObject({ code: 'invalid_input' })
      return 1
    }),
  ])

  const execution = await world.fabric.submit(stepped, 1)

  expect(await execution.result()).toBe(1)
})

test('progress after the end is refused', async () => {
  await using world = createWorld()
  let kept: TaskContext | undefined
  world.work([stepped.handle((_, context) => ((kept = context), 1))])
  const execution = await world.fabric.submit(stepped, 1)
  await execution.result()

  await expect(kept?.progress(100)).rejects.toMatchObject({ name: 'LeaseLostError', code: 'execution_not_active' })
})
