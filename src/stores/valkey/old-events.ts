/** The fields of events in layout 3, by their type. */
import type { Field } from '../../kernel/codec.ts'
import { eventTypes } from '../../kernel/events.ts'
import type { EventType } from '../../kernel/events.ts'
import { eventFields } from '../../kernel/schema.ts'

const holderNames = ['attempt', 'epoch', 'workerId', 'workerInstanceId']

/**
 * The fields of the most frequent events that are seldom absent, and those that they can have besides; others can have any,
 * and every one a flow.
 */
const frequentEvents: Readonly<Partial<Record<EventType, readonly [always: string[], perhaps: string[]]>>> = {
  execution_created: [[], ['until']],
  attempt_started: [holderNames, []],
  execution_ended: [
    [...holderNames, 'outcome'],
    ['reason', 'by', 'category'],
  ],
  step_recorded: [
    ['attempt', 'step', 'effect'],
    ['until', 'reason', 'category'],
  ],
  execution_suspended: [[...holderNames, 'reason', 'step'], ['until']],
  execution_resumed: [
    ['attempt', 'epoch', 'reason', 'step'],
    ['until', 'by'],
  ],
  signal_received: [['by', 'waitpoint', 'signal', 'effect'], ['step']],
}

function eventFieldsOf(type: EventType): Field[] {
  const [always, perhaps] = frequentEvents[type] ?? [[], eventFields.map((field) => field.name)]
  return eventFields.flatMap(({ name, of, rare }): Field[] => {
    if (name === 'type') return []
    const isCommon = rare !== true && name !== 'outcome'
    if (isCommon || always.includes(name)) return [{ name, of }]
    return name === 'flowId' || perhaps.includes(name) ? [{ name, of, rare: true }] : []
  })
}

/** An event is laid out by its type, so that it takes no room for what it cannot have. */
export const eventFieldsByType: readonly Field[] = [
  {
    name: 'event',
    of: {
      kind: 'union',
      tag: 'type',
      variants: eventTypes.map((type) => ({ word: type, fields: eventFieldsOf(type) })),
    },
  },
]
