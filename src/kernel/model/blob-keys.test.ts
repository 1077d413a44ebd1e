import { expect, test } from 'vitest'
import {
  flowInputKey,
  followUpKey,
  frameChunkKey,
  liveFramesKey,
  otherSlot,
  payloadKey,
  payloadKeyOf,
  resultKey,
  scheduleInputKey,
  scheduleNodeKey,
  signalPayloadKey,
  stepValueKey,
  summaryKey,
} from './blob-keys.ts'
import { joinName } from './names.ts'

test('blobs have a key of their kind and of the record that they belong to', () => {
  expect([payloadKey('0-a'), resultKey('0-a'), flowInputKey({ id: 'f0-a', inputSlot: undefined })]).toEqual([
    joinName('p', '0-a'),
    joinName('r', '0-a'),
    joinName('f', 'f0-a'),
  ])
  expect(scheduleInputKey({ id: 's', revision: 3 })).toBe(joinName('c', joinName('s', '3')))
  expect(scheduleNodeKey({ id: 's', revision: 3 }, 2)).toBe('c\u001fs\u001f3\u001f2')
  expect([frameChunkKey('x'), liveFramesKey('x'), summaryKey('x')]).toEqual(['c\u001fx', 'l\u001fx', 'm\u001fx'])
  expect([stepValueKey('step'), signalPayloadKey('signal')]).toEqual([joinName('s', 'step'), joinName('g', 'signal')])
})

test('a payload has two places, and the input of a follow-up takes the one that is free', () => {
  const first = { id: '0-a', payloadSlot: undefined }
  const second = { id: '0-a', payloadSlot: otherSlot(first) }

  expect([payloadKeyOf(first), payloadKeyOf(second)]).toEqual([joinName('p', '0-a'), joinName('f', '0-a')])
  expect([followUpKey(first), followUpKey(second)]).toEqual([payloadKeyOf(second), payloadKeyOf(first)])
  expect(otherSlot(second)).toBeUndefined()
})

test('what waits for a further run of a flow has a place of its own for each run', () => {
  const inputs = [undefined, 1, 2].map((inputSlot) => flowInputKey({ id: 'f0-a', inputSlot }))
  const payloads = [undefined, 1, 2, 3].map((payloadSlot) => payloadKeyOf({ id: '0-a', payloadSlot }))

  expect(new Set([...inputs, ...payloads]).size).toBe(7)
})
