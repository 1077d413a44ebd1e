/**
 * How calls and answers travel to and from the function library. What a life of an execution is made of has a layout of
 * its own; everything else travels as msgpack with names, which is slower and needs no description.
 */
import { publicStates } from '../../kernel/state.ts'
import type { Field } from '../../kernel/codec.ts'
import { eventTypes } from '../../kernel/events.ts'
import type { EventType } from '../../kernel/events.ts'
import {
  attemptKind,
  blobInfo,
  flag,
  list,
  object,
  retryPolicy,
  tagList,
  text,
  textList,
  whole,
  word,
} from '../../kernel/field-kinds.ts'
import { resumed } from '../../kernel/journal-schema.ts'
import type { OperationName } from '../../kernel/operations.ts'
import { eventFields } from '../../kernel/schema.ts'
import {
  deliverInput,
  deliverResult,
  readSignalsInput,
  readSignalsResult,
  readStepsInput,
  readStepsResult,
  recordStepInput,
  recordStepResult,
  suspendInput,
  suspendResult,
} from './journal-wire.ts'
import { blob, fence } from './wire-kinds.ts'

const createInput: readonly Field[] = [
  { name: 'executionId', of: text },
  { name: 'key', of: text, rare: true },
  { name: 'requestId', of: text, rare: true },
  { name: 'namespace', of: text },
  { name: 'task', of: text },
  { name: 'lane', of: text },
  { name: 'class', of: text },
  { name: 'priority', of: whole },
  { name: 'tags', of: tagList },
  { name: 'retry', of: retryPolicy },
  { name: 'delayMs', of: whole, rare: true },
  { name: 'attemptTimeoutMs', of: whole, rare: true },
  { name: 'totalTimeoutMs', of: whole, rare: true },
  { name: 'retentionMs', of: whole },
  { name: 'payload', of: blob },
  { name: 'ifExists', of: word(['join', 'reject', 'replace']) },
]

const claimInput: readonly Field[] = [
  { name: 'requestId', of: text },
  { name: 'workerId', of: text },
  { name: 'workerInstanceId', of: text },
  {
    name: 'queues',
    of: list(
      object([
        { name: 'lane', of: text },
        { name: 'class', of: text },
      ]),
    ),
  },
  { name: 'count', of: whole },
  { name: 'leaseTtlMs', of: whole },
  { name: 'repeated', of: flag },
  { name: 'seed', of: whole },
]

const completeInput: readonly Field[] = [
  { name: 'executionId', of: text },
  { name: 'fence', of: fence },
  { name: 'result', of: blob },
  { name: 'flowId', of: text, rare: true },
  { name: 'next', of: object(claimInput) },
]

const renewInput: readonly Field[] = [
  { name: 'executionId', of: text },
  { name: 'fence', of: fence },
  { name: 'leaseTtlMs', of: whole },
  { name: 'beginsNow', of: flag },
]

const claimed: readonly Field[] = [
  { name: 'executionId', of: text },
  { name: 'key', of: text, rare: true },
  { name: 'namespace', of: text },
  { name: 'task', of: text },
  { name: 'lane', of: text },
  { name: 'priority', of: whole },
  { name: 'tags', of: tagList },
  { name: 'fence', of: fence },
  { name: 'attemptKind', of: attemptKind },
  { name: 'failureCount', of: whole },
  { name: 'leaseExpiresAt', of: whole },
  { name: 'timeoutAt', of: whole },
  { name: 'deadlineAt', of: whole },
  { name: 'createdAt', of: whole },
  { name: 'payload', of: object(blobInfo) },
  { name: 'payloadBlob', of: whole },
  { name: 'flowId', of: text, rare: true },
  { name: 'node', of: text, rare: true },
  {
    name: 'inputs',
    of: list(
      object([
        { name: 'name', of: text },
        { name: 'upstreamId', of: text },
        { name: 'result', of: object(blobInfo) },
        { name: 'blob', of: whole },
      ]),
    ),
  },
  { name: 'inputsFrom', of: text, rare: true },
  {
    name: 'journal',
    of: object([
      { name: 'stepCount', of: whole },
      { name: 'round', of: whole },
      { name: 'era', of: whole },
      { name: 'resumed', of: resumed },
    ]),
  },
]

const claimResult: readonly Field[] = [
  { name: 'kind', of: word(['claimed']) },
  { name: 'executions', of: list(object(claimed)) },
  { name: 'more', of: flag },
  { name: 'at', of: whole },
]

export const inputLayouts: Readonly<Partial<Record<OperationName, readonly Field[]>>> = {
  createExecution: createInput,
  claimForWorker: claimInput,
  completeExecution: completeInput,
  renewLease: renewInput,
  recordStep: recordStepInput,
  suspendExecution: suspendInput,
  deliverSignal: deliverInput,
  readSteps: readStepsInput,
  readSignals: readSignalsInput,
}

export interface ResultLayout {
  /** The kinds of result that the fields describe; any other kind travels with names. */
  readonly kinds: readonly string[]
  readonly fields: readonly Field[]
}

export const resultLayouts: Readonly<Partial<Record<OperationName, ResultLayout>>> = {
  createExecution: {
    kinds: ['created', 'replaced', 'joined'],
    fields: [
      { name: 'kind', of: word(['created', 'replaced', 'joined']) },
      { name: 'executionId', of: text },
      { name: 'state', of: word(publicStates) },
      { name: 'at', of: whole },
    ],
  },
  claimForWorker: { kinds: ['claimed'], fields: claimResult },
  completeExecution: {
    kinds: ['completed', 'already_completed'],
    fields: [
      { name: 'kind', of: word(['completed', 'already_completed']) },
      { name: 'next', of: object(claimResult) },
    ],
  },
  recordStep: { kinds: ['recorded'], fields: recordStepResult },
  suspendExecution: { kinds: ['suspended', 'already_suspended'], fields: suspendResult },
  deliverSignal: { kinds: ['delivered', 'duplicate'], fields: deliverResult },
  readSteps: { kinds: ['steps'], fields: readStepsResult },
  readSignals: { kinds: ['signals'], fields: readSignalsResult },
}

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

/** What changed, for listeners of the caller's process. Between processes the same, and who said it. */
export const wakeFields: readonly Field[] = [
  { name: 'sender', of: text },
  { name: 'ready', of: textList },
  { name: 'dueAt', of: whole },
  { name: 'hasEvents', of: flag },
  { name: 'holdersOf', of: textList },
  {
    name: 'growth',
    of: object([
      { name: 'first', of: whole },
      { name: 'last', of: whole },
      { name: 'at', of: whole },
      { name: 'ended', of: textList },
    ]),
  },
]

/** The first byte of a call and of an answer says how the rest is to be read. The second of an answer counts its blobs. */
export const WITH_NAMES = 0
export const BY_LAYOUT = 1
export const FAULT = 2
