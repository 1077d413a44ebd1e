import { expect, test } from 'vitest'
import { payloadKey, resultKey, signalPayloadKey, stepValueKey } from './blob-keys.ts'
import { bufferedSignalsIndex, signalsIndex, stepsIndex, waitpointsIndex } from './indexes.ts'
import { SEPARATOR } from './names.ts'

/** Stores contain these names, so a later version must use the same. */
test.each([
  [payloadKey('0-a'), 'p'],
  [resultKey('0-a'), 'r'],
  [stepValueKey('0-a'), 's'],
  [signalPayloadKey('0-a'), 'g'],
  [stepsIndex('0-a'), 'steps'],
  [waitpointsIndex('0-a'), 'waitpoints'],
  [signalsIndex('0-a'), 'signals'],
  [bufferedSignalsIndex('0-a'), 'inbox'],
])('%j begins with %s', (name, first) => {
  expect(name).toBe(`${first}${SEPARATOR}0-a`)
})
