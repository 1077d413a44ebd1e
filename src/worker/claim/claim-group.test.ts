import { expect, test } from 'vitest'
import { task } from '../../client/index.ts'
import { CLAIM_QUEUE_COUNT_MAX, readyIndex, taskClass } from '../../kernel/index.ts'
import { groupQueues, readyIndexesOf } from './claim-group.ts'
import { ServedTask } from '../served-task.ts'
import type { WorkerScope } from '../served-task.ts'

const ANY_WORKER: WorkerScope = { namespace: 'default', knownNamespaces: ['default'], capabilities: new Set() }

interface ServedOptions {
  readonly lane?: string
  readonly limit?: number
  readonly slots?: number
  readonly needs?: readonly string[]
  readonly scope?: WorkerScope
}

function served(name: string, options: ServedOptions = {}): ServedTask {
  const { lane = 'default', needs = [], slots = 1, limit, scope = ANY_WORKER } = options
  const handler = task(name, { lane, needs }).handle({ slots }, () => undefined)
  return new ServedTask(handler, handler.run, limit, scope)
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

  expect(readyIndexesOf(group!.queues)).toEqual([
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

test('a task that takes several slots is claimed by itself', () => {
  const heavy = served('heavy', { slots: 4 })

  expect(groupQueues([served('a'), heavy], undefined).map((group) => group.task)).toEqual([undefined, heavy])
})

test('the needs of a task are read only by a worker that has them', () => {
  const scope = { ...ANY_WORKER, capabilities: new Set(['gpu', 'region:eu']) }
  const withNeeds = { lane: 'default', class: taskClass('a', undefined, { needs: { text: 'gpu', isDigest: false } }) }

  expect(groupQueues([served('a', { needs: ['gpu'] })], undefined)[0]?.queues).toEqual([
    { lane: 'default', class: 'a' },
  ])
  expect(groupQueues([served('a', { needs: ['gpu'], scope })], undefined)[0]?.queues).toEqual([
    { lane: 'default', class: 'a' },
    withNeeds,
  ])
})

test('a worker of another namespace reads the queues of that one alone', () => {
  const scope = { ...ANY_WORKER, namespace: 'acme', knownNamespaces: ['acme'] }

  expect(groupQueues([served('a', { scope })], undefined)[0]?.queues).toEqual([
    { lane: 'default', class: taskClass('a', undefined, { namespace: 'acme' }) },
  ])
})

test('no claim asks for more queues than it may', () => {
  const tasks = Array.from({ length: 150 }, (_, i) => served(`task-${i}`))

  const sizes = groupQueues(tasks, undefined).map((group) => group.queues.length)

  expect(sizes).toEqual([CLAIM_QUEUE_COUNT_MAX, CLAIM_QUEUE_COUNT_MAX, 150 - 2 * CLAIM_QUEUE_COUNT_MAX])
})
