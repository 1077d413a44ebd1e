import { expect, test } from 'vitest'
import { concernsHolder, eventOf, eventTypes, flowSubject, isEndEvent, laneSubject, workerSubject } from './events.ts'
import type { EventSubject } from './events.ts'
import type { ExecutionId } from './records.ts'
import { unpackRecord } from './schema.ts'

const subject: EventSubject = {
  id: '0-a' as ExecutionId,
  namespace: 'default',
  task: 'mail',
  lane: 'slow',
  tags: [
    { name: 'city', value: 'Oslo', indexed: false },
    { name: 'plan', value: 'pro', indexed: true },
  ],
  member: undefined,
}

test('an event carries the tags of its subject, each name before its value', () => {
  expect(eventOf('execution_created', subject, {}, 5)).toMatchObject({
    type: 'execution_created',
    at: 5,
    executionId: '0-a',
    task: 'mail',
    lane: 'slow',
    tags: ['city', 'Oslo', 'plan', 'pro'],
  })
})

test('an event names the flow of a member, and none for an execution alone', () => {
  expect(eventOf('execution_created', { ...subject, member: { flowId: 'f0-b' } }, {}, 5).flowId).toBe('f0-b')
  expect(eventOf('execution_created', subject, {}, 5).flowId).toBeUndefined()
})

test('the events of a flow name it as their subject and as their flow, and no lane', () => {
  const flow = { id: 'f0-b', namespace: 'default', name: 'order', tags: [] } as unknown as Parameters<
    typeof flowSubject
  >[0]

  expect(flowSubject(flow)).toEqual({
    id: 'f0-b',
    namespace: 'default',
    task: 'order',
    lane: '',
    tags: [],
    member: { flowId: 'f0-b' },
  })
})

test('the events of a worker name its instance as their subject, and neither task nor lane', () => {
  const worker = { id: 'pool-a', namespace: 'acme' } as Parameters<typeof workerSubject>[0]

  expect(workerSubject(worker)).toEqual({
    id: 'pool-a',
    namespace: 'acme',
    task: '',
    lane: '',
    tags: [],
    member: undefined,
  })
})

test('an end is that of an execution or of a flow, and a cancelled flow has ended', () => {
  expect(eventTypes.filter(isEndEvent).toSorted()).toEqual(['execution_ended', 'flow_cancelled', 'flow_ended'])
})

test('a holder is notified of what others did to its execution, and not of its own report', () => {
  expect(eventTypes.filter((type) => concernsHolder(type, {})).toSorted()).toEqual([
    'cancel_requested',
    'execution_ended',
    'execution_unwinding',
    'lease_revoked',
  ])
  const outcomes = ['completed', 'failed', 'cancelled', 'expired', 'skipped'] as const
  expect(outcomes.filter((outcome) => concernsHolder('execution_ended', { outcome }))).toEqual(outcomes.slice(2))
})

test('a lane is the subject of its events in the place of an execution, without a task, and with a namespace for its limit', () => {
  const lane = { ...unpackRecord('lane', []), id: 'slow' }
  const subject = { id: 'slow', namespace: '', task: '', lane: 'slow', tags: [], member: undefined }

  expect(laneSubject(lane)).toEqual(subject)
  expect(laneSubject({ ...lane, id: 'acme\u00b7slow' })).toEqual({ ...subject, namespace: 'acme' })
})
