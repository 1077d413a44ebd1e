import { expect, test } from 'vitest'
import { createWorld } from '../../worker/worker.fixture.ts'
import { task } from '../define/task.ts'
import type { ExecutionHandle } from '../executions/execution-handle.ts'
import type { EventsOptions } from '../executions/execution-handle.ts'

const greet = task<string, string>('greet')
const handler = greet.handle((name) => `Hello, ${name}`)

/** Resolves with the types of the events when the sequence has ended. */
async function typesOf(execution: ExecutionHandle, options?: EventsOptions): Promise<string[]> {
  const types: string[] = []
  for await (const item of execution.events(options)) types.push(item.kind === 'event' ? item.event.type : item.kind)
  return types
}

const LIFE = ['execution_created', 'attempt_started', 'execution_ended']

test('the events of an execution end with it', async () => {
  await using world = createWorld(2)
  const execution = await world.fabric.submit(greet, 'Ada')
  const following = typesOf(execution)
  world.work([handler])
  await world.advance(1_000)

  expect(await following).toEqual(LIFE.slice(1))
})

test('the events of an ended execution end: at once, or after all that are kept', async () => {
  await using world = createWorld(2)
  world.work([handler])
  const execution = await world.fabric.submit(greet, 'Ada')
  await world.settle()

  expect(await typesOf(execution)).toEqual([])
  expect(await typesOf(execution, { fromStart: true })).toEqual(LIFE)
  await world.store.trimEvents('fp:0', Number.MAX_SAFE_INTEGER, 0)
  await world.store.trimEvents('fp:1', Number.MAX_SAFE_INTEGER, 0)
  expect((await typesOf(execution, { fromStart: true })).filter((type) => type !== 'trimmed')).toEqual([])
})

test('the end before a replay does not end the events', async () => {
  await using world = createWorld()
  world.work([handler])
  const execution = await world.fabric.submit(greet, 'Ada')
  await world.settle()
  await world.advance(5)
  await execution.replay()
  await world.settle()

  expect(await typesOf(execution, { fromStart: true })).toEqual([
    ...LIFE,
    'execution_replayed',
    'attempt_started',
    'execution_ended',
  ])
})
