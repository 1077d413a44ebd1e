import { describe, expect, test } from 'vitest'
import { readyIndex } from '../../../kernel/index.ts'
import type { ExecutionId } from '../../../kernel/index.ts'
import { executionPartition } from '../../store.ts'
import type { Wake } from '../../store.ts'
import {
  PAYLOAD_MAX_BYTES,
  changedPayload,
  channelOf,
  echoPayload,
  parsePayload,
  stagedPayload,
} from './notify-payload.ts'

/** As many as a store can have. */
const PARTITIONS = Array.from({ length: 64 }, (_, number) => executionPartition(number))
const SENDER = '01890a5d-ac96-774b-bcce-b302099a8057'

function read(text: string) {
  return parsePayload(text, PARTITIONS)
}

/** A wake-up with so many names of this length. */
function wordyWake(number: number, count: number): Wake {
  const names = Array.from({ length: count }, (_, i) => readyIndex('default', `task-${i}-${'x'.repeat(100)}`))
  const dueAt = 1_700_000_000_000 + number
  return { partition: executionPartition(number), ready: names, dueAt, hasEvents: true, holdersOf: [] }
}

test('each schema has a channel of its own, whose name the server does not cut off', () => {
  expect(channelOf('shop')).toBe('flowfabric_shop')
  expect(Buffer.byteLength(channelOf('s'.repeat(48)))).toBeLessThan(64)
})

describe('what changed', () => {
  test.each<[what: string, wake: Wake]>([
    [
      'every field',
      {
        partition: executionPartition(3),
        ready: [readyIndex('default', 'greet'), readyIndex('mail', 'send "it"')],
        dueAt: 1_700_000_000_000,
        hasEvents: true,
        holdersOf: ['3-01890a5d-ac96-774b-bcce-b302099a8057' as ExecutionId],
      },
    ],
    ['that nothing became ready', { partition: executionPartition(0), ready: [], hasEvents: true, holdersOf: [] }],
    ['that anything may have changed', { partition: executionPartition(63), hasEvents: false }],
  ])('is parsed as it was sent: %s', (_, wake) => {
    const wakes = [wake, { partition: executionPartition(1), hasEvents: true }]

    expect(read(changedPayload(SENDER, wakes))).toEqual({ kind: 'changed', sender: SENDER, wakes })
  })

  test('names only the partitions and their timers when it would be too long for the server', () => {
    const wakes = PARTITIONS.map((_, number) => wordyWake(number, 10))

    const text = changedPayload(SENDER, wakes)

    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(PAYLOAD_MAX_BYTES)
    expect(read(text)).toEqual({
      kind: 'changed',
      sender: SENDER,
      wakes: wakes.map(({ partition, dueAt }) => ({ partition, dueAt, hasEvents: true })),
    })
  })

  test('names nothing when there are too many partitions to name', () => {
    const wakes = Array.from({ length: 200 }, (_, number) => wordyWake(number, 1))

    expect(read(changedPayload(SENDER, wakes))).toEqual({ kind: 'changed', sender: SENDER, wakes: undefined })
  })

  test('is sent in full up to the last byte that the server accepts', () => {
    const bare: Wake = { partition: executionPartition(0), ready: [''], hasEvents: true }
    const room = PAYLOAD_MAX_BYTES - changedPayload(SENDER, [bare]).length
    const withName = (length: number) => changedPayload(SENDER, [{ ...bare, ready: ['x'.repeat(length)] }])

    expect(withName(room)).toHaveLength(PAYLOAD_MAX_BYTES)
    expect(withName(room + 1).length).toBeLessThan(200)
  })
})

test('a staged submit is announced with the number of its partition', () => {
  expect(read(stagedPayload(63))).toEqual({ kind: 'staged', number: 63 })
})

test('an echo differs from every other one', () => {
  expect(read(echoPayload(SENDER, 1))).toEqual({ kind: 'echo' })
  expect(new Set([echoPayload(SENDER, 1), echoPayload(SENDER, 2), echoPayload('another', 1)]).size).toBe(3)
})

test.each([
  '',
  'not a payload',
  'null',
  '7',
  '[]',
  '{}',
  '{"kind":"louder","sender":"a"}',
  '{"kind":"changed"}',
  '{"kind":"changed","sender":7,"wakes":[]}',
  '{"kind":"changed","sender":"a","wakes":null}',
  '{"kind":"changed","sender":"a","wakes":{}}',
  '{"kind":"changed","sender":"a","wakes":[null]}',
  '{"kind":"changed","sender":"a","wakes":[{"partition":"fp:64","hasEvents":true}]}',
  '{"kind":"changed","sender":"a","wakes":[{"partition":0,"hasEvents":true}]}',
  '{"kind":"changed","sender":"a","wakes":[{"partition":"fp:0"}]}',
  '{"kind":"changed","sender":"a","wakes":[{"partition":"fp:0","hasEvents":true,"ready":"all"}]}',
  '{"kind":"changed","sender":"a","wakes":[{"partition":"fp:0","hasEvents":true,"dueAt":"soon"}]}',
  '{"kind":"changed","sender":"a","wakes":[{"partition":"fp:0","hasEvents":true,"holdersOf":[1]}]}',
  '{"kind":"staged"}',
  '{"kind":"staged","partition":"fp:64"}',
])('what cannot be meant is not read: %s', (text) => {
  expect(read(text)).toBeUndefined()
})
