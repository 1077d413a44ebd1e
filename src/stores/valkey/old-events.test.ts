import { expect, test } from 'vitest'
import { eventTypes } from '../../kernel/events.ts'
import { LayoutReader, LayoutWriter } from './layout.ts'
import { eventFieldsByType } from './old-events.ts'

test('an event of every type is read as it was written', () => {
  const writer = new LayoutWriter()
  for (const type of eventTypes) {
    const event = { type, at: 1_700_000_000_000, executionId: '3-a', namespace: 'default', flowId: 'f3-b' }
    writer.fields(eventFieldsByType, { event })
    const reader = new LayoutReader(writer.take())

    expect(reader.fields(eventFieldsByType)).toMatchObject({ event })
    expect(reader.isAtEnd).toBe(true)
  }
})
