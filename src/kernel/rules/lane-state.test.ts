import { describe, expect, test } from 'vitest'
import type { Lane } from '../model/records.ts'
import { unpackRecord } from '../model/schema.ts'
import { entriesOf } from './index-entries.ts'
import { claimHoldOf, submitHoldOf } from './lane-state.ts'

type Hold = NonNullable<Lane['hold']>

function hold(state: Hold['state']): Hold {
  return { state } as Hold
}

function lane(fields: Partial<Lane>): Lane {
  return { ...unpackRecord('lane', []), id: 'main', tasks: [], ...fields }
}

const free = lane({})
const paused = lane({ hold: hold('paused') })
const draining = lane({ hold: hold('draining') })
const onlyMail = lane({ tasks: [{ task: 'mail', hold: hold('draining') }] })

describe('a hold', () => {
  test('of a lane concerns all its tasks, and one of a task that task alone', () => {
    expect(claimHoldOf(paused, 'mail')).toEqual(hold('paused'))
    expect([submitHoldOf(onlyMail, 'mail'), submitHoldOf(onlyMail, 'report')]).toEqual([hold('draining'), undefined])
  })

  test('that pauses prevents claims, and one that drains prevents submits', () => {
    const lanes = [undefined, free, paused, draining, onlyMail]

    expect(lanes.map((one) => claimHoldOf(one, 'mail')?.state)).toEqual([
      undefined,
      undefined,
      'paused',
      undefined,
      undefined,
    ])
    expect(lanes.map((one) => submitHoldOf(one, 'mail')?.state)).toEqual([
      undefined,
      undefined,
      undefined,
      'draining',
      'draining',
    ])
  })

  test('of a task still applies while its lane is held in another way', () => {
    const both = lane({ hold: hold('draining'), tasks: [{ task: 'mail', hold: hold('paused') }] })

    expect([claimHoldOf(both, 'mail')?.state, submitHoldOf(both, 'mail')?.state]).toEqual(['paused', 'draining'])
    expect([claimHoldOf(both, 'report')?.state, submitHoldOf(both, 'report')?.state]).toEqual([undefined, 'draining'])
  })
})

describe('a record with a name stands', () => {
  test('among all lanes, and while it is copied among those too', () => {
    expect(entriesOf(free)).toEqual([{ index: '@lanes', score: 0, id: 'main' }])
    expect(entriesOf(lane({ isCopying: true })).map(({ index }) => index)).toEqual(['@lanes', '@copying_lanes'])
  })

  test('among all shares, and by its timer', () => {
    expect(entriesOf({ ...unpackRecord('share', []), id: 's', dueAt: 7 })).toEqual([
      { index: '@shares', score: 0, id: 's' },
      { index: '@due\u001fshare', score: 7, id: 's' },
    ])
  })

  test('among all rotations', () => {
    expect(entriesOf({ ...unpackRecord('rotation', []), id: 'r' })).toEqual([
      { index: '@rotations', score: 0, id: 'r' },
    ])
  })
})
