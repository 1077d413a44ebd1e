import { expect, test } from 'vitest'
import { task } from '../../client/index.ts'
import { CLAIM_QUEUE_COUNT_MAX, readyIndex } from '../../kernel/index.ts'
import { groupQueues, readyIndexesOf } from './claim-group.ts'
import { ServedTask } from '../served-task.ts'

function served(name: string, options: { lane?: string; limit?: number } = {}): ServedTask {
  const handler = task(name, { lane: options.lane ?? 'default' }).handle(() => undefined)
  return new ServedTask(handler, handler.run, options.limit)
}

test('tasks without a limit share one claim, each in its own lane', () => {
  const groups = groupQueues([served('a'), served('b', { lane: 'mail' })], undefined)

  expect(groups).toEqual([
    {
      task: undefined,
      queues: [
        { lane: 'default', class: 'a' },
        { lane: 'mail', class: 'b' },
      ],
    },
  ])
})

test('given lanes are served with every task', () => {
  const [group] = groupQueues([served('a'), served('b')], ['eu', 'us'])

  expect(readyIndexesOf(group!)).toEqual([
    readyIndex('eu', 'a'),
    readyIndex('us', 'a'),
    readyIndex('eu', 'b'),
    readyIndex('us', 'b'),
  ])
})

test('a task with a limit is claimed by itself', () => {
  const limited = served('limited', { limit: 2 })

  expect(groupQueues([served('a'), limited], undefined).map((group) => group.task)).toEqual([undefined, limited])
})

test('no claim asks for more queues than it may', () => {
  const tasks = Array.from({ length: 150 }, (_, i) => served(`task-${i}`))

  const sizes = groupQueues(tasks, undefined).map((group) => group.queues.length)

  expect(sizes).toEqual([CLAIM_QUEUE_COUNT_MAX, CLAIM_QUEUE_COUNT_MAX, 150 - 2 * CLAIM_QUEUE_COUNT_MAX])
})
