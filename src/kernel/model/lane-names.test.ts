import { expect, test } from 'vitest'
import { laneSettingsId, parseLaneSettingsId } from './lane-names.ts'

test('the settings of a lane have its name, and the limit of a namespace in it both names', () => {
  expect(laneSettingsId('mail', 'default')).toBe('mail')
  expect(laneSettingsId('mail', 'acme')).toBe('acme\u00b7mail')
})

test('an id is parsed into the lane and the namespace that it was made of', () => {
  for (const named of [
    { lane: 'mail', namespace: 'default' },
    { lane: 'a@b c', namespace: 'acme' },
  ]) {
    expect(parseLaneSettingsId(laneSettingsId(named.lane, named.namespace))).toEqual(named)
  }
})
