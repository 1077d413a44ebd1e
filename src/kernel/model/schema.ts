/** The stored order of every record's fields. New fields go to the end; a change of any other kind is a new data version. */
import { packFields, unpackFields, unpackOnto } from './codec.ts'
import type { Cell, Field, FieldKind } from './codec.ts'
import {
  attemptKind,
  blobInfo,
  delayCause,
  failure,
  number,
  object,
  retryPolicy,
  tagList,
  text,
  textList,
  whole,
  word,
} from './field-kinds.ts'
import type { Blank } from './field-kinds.ts'
import { blankEdge, blankFlow, edgeFields, flowFields, memberFields } from './flow-schema.ts'
import {
  blankSignal,
  blankStep,
  blankWaitpoint,
  journalFields,
  signalFields,
  stepFields,
  waitpointFields,
} from './journal-schema.ts'
import { eventTypes } from './events.ts'
import type { FabricEvent } from './events.ts'
import type { AnyRecord, Attempt, Execution, Queue, RecordType, RecordTypes } from './records.ts'

/** Stored with a store's configuration. Only kernels of the same data version may share a store. */
export const DATA_VERSION = 1

const outcomes = ['completed', 'failed', 'cancelled', 'expired', 'skipped'] as const

const lease = object([
  { name: 'id', of: text },
  { name: 'workerId', of: text },
  { name: 'workerInstanceId', of: text },
  { name: 'acquiredAt', of: whole },
  { name: 'expiresAt', of: whole },
])

const cancelRequest = object([
  { name: 'reason', of: text },
  { name: 'by', of: text },
  { name: 'at', of: whole },
  { name: 'forceAt', of: whole },
])

const state: FieldKind = {
  kind: 'union',
  tag: 'phase',
  variants: [
    { word: 'eligible', fields: [] },
    {
      word: 'delayed',
      fields: [
        { name: 'until', of: whole },
        { name: 'cause', of: delayCause },
      ],
    },
    { word: 'blocked', fields: [{ name: 'by', of: word(['dependencies', 'budget', 'limit', 'operator', 'hold']) }] },
    {
      word: 'active',
      fields: [
        { name: 'lease', of: lease },
        { name: 'timeoutAt', of: whole },
        { name: 'cancel', of: cancelRequest },
        { name: 'runningSince', of: whole },
      ],
    },
    {
      word: 'suspended',
      fields: [
        { name: 'step', of: text },
        { name: 'reason', of: text },
        { name: 'until', of: whole },
        { name: 'remindAt', of: whole },
      ],
    },
    {
      word: 'ended',
      fields: [
        { name: 'outcome', of: word(outcomes) },
        { name: 'at', of: whole },
        { name: 'reason', of: text },
        { name: 'by', of: text },
      ],
    },
  ],
}

const executionFields: readonly Field[] = [
  { name: 'id', of: text },
  { name: 'key', of: text, rare: true },
  { name: 'requestId', of: text, rare: true },
  { name: 'namespace', of: text },
  { name: 'task', of: text },
  { name: 'lane', of: text },
  { name: 'class', of: text },
  { name: 'priority', of: whole },
  { name: 'tags', of: tagList },
  { name: 'retry', of: retryPolicy },
  { name: 'attemptTimeoutMs', of: whole, rare: true },
  { name: 'totalTimeoutMs', of: whole, rare: true },
  { name: 'deadlineAt', of: whole, rare: true },
  { name: 'retentionMs', of: whole },
  { name: 'payload', of: object(blobInfo) },
  { name: 'result', of: object(blobInfo) },
  { name: 'createdAt', of: whole },
  { name: 'changedAt', of: whole },
  { name: 'startedAt', of: whole },
  { name: 'state', of: state },
  { name: 'next', of: word(['initial', 'retry', 'reclaim', 'replay', 'continue']) },
  { name: 'epoch', of: whole },
  {
    name: 'attempt',
    of: object([
      { name: 'number', of: whole },
      { name: 'kind', of: attemptKind },
      { name: 'startedAt', of: whole },
      { name: 'usedMs', of: whole },
      { name: 'workerId', of: text },
      { name: 'workerInstanceId', of: text },
    ]),
  },
  { name: 'failureCount', of: whole },
  { name: 'reclaimCount', of: whole },
  { name: 'replayCount', of: whole },
  { name: 'failure', of: failure },
  {
    name: 'progress',
    of: object([
      { name: 'percent', of: number },
      { name: 'message', of: text },
      { name: 'at', of: whole },
    ]),
  },
  {
    name: 'lastLease',
    of: object([
      { name: 'id', of: text },
      { name: 'epoch', of: whole },
      {
        name: 'how',
        of: word([
          'completed',
          'failed',
          'cancelled',
          'expired',
          'released',
          'delayed',
          'timed_out',
          'lease_expired',
          'lease_revoked',
          'skipped',
          'parked',
          'suspended',
        ]),
      },
      { name: 'until', of: whole },
    ]),
  },
  {
    name: 'lastReplay',
    of: object([
      { name: 'requestId', of: text },
      { name: 'reason', of: text },
      { name: 'by', of: text },
      { name: 'at', of: whole },
    ]),
  },
  { name: 'member', of: object(memberFields), rare: true },
  { name: 'journal', of: object(journalFields), rare: true },
]

const attemptFields: readonly Field[] = [
  { name: 'id', of: text },
  { name: 'executionId', of: text },
  { name: 'number', of: whole },
  { name: 'kind', of: attemptKind },
  { name: 'startedAt', of: whole },
  { name: 'endedAt', of: whole },
  { name: 'epoch', of: whole },
  { name: 'workerId', of: text },
  { name: 'workerInstanceId', of: text },
  {
    name: 'outcome',
    of: word(['completed', 'failed', 'timed_out', 'cancelled', 'expired', 'lease_expired', 'lease_revoked']),
  },
  { name: 'failure', of: failure },
]

const queueFields: readonly Field[] = [
  { name: 'id', of: text },
  { name: 'lane', of: text },
  { name: 'class', of: text },
  { name: 'createdAt', of: whole },
]

/** The fields of an event in their stored order. */
export const eventFields: readonly Field[] = [
  { name: 'type', of: word(eventTypes) },
  { name: 'at', of: whole },
  { name: 'executionId', of: text },
  { name: 'namespace', of: text },
  { name: 'task', of: text },
  { name: 'lane', of: text },
  { name: 'tags', of: textList },
  { name: 'attempt', of: whole, rare: true },
  { name: 'epoch', of: whole, rare: true },
  { name: 'workerId', of: text, rare: true },
  { name: 'workerInstanceId', of: text, rare: true },
  { name: 'outcome', of: word(outcomes) },
  { name: 'until', of: whole, rare: true },
  { name: 'reason', of: text, rare: true },
  { name: 'by', of: text, rare: true },
  { name: 'category', of: text, rare: true },
  { name: 'percent', of: number, rare: true },
  { name: 'priority', of: whole, rare: true },
  { name: 'flowId', of: text, rare: true },
  { name: 'step', of: text, rare: true },
  { name: 'waitpoint', of: text, rare: true },
  { name: 'signal', of: text, rare: true },
  { name: 'effect', of: text, rare: true },
]

const blankExecution: Blank<Execution> = {
  type: 'execution',
  id: undefined,
  key: undefined,
  requestId: undefined,
  namespace: undefined,
  task: undefined,
  lane: undefined,
  class: undefined,
  priority: undefined,
  tags: undefined,
  retry: undefined,
  attemptTimeoutMs: undefined,
  totalTimeoutMs: undefined,
  deadlineAt: undefined,
  retentionMs: undefined,
  payload: undefined,
  result: undefined,
  createdAt: undefined,
  changedAt: undefined,
  startedAt: undefined,
  state: undefined,
  next: undefined,
  epoch: undefined,
  attempt: undefined,
  failureCount: undefined,
  reclaimCount: undefined,
  replayCount: undefined,
  failure: undefined,
  progress: undefined,
  lastLease: undefined,
  lastReplay: undefined,
  member: undefined,
  journal: undefined,
}

const blankAttempt: Blank<Attempt> = {
  type: 'attempt',
  id: undefined,
  executionId: undefined,
  number: undefined,
  kind: undefined,
  startedAt: undefined,
  endedAt: undefined,
  epoch: undefined,
  workerId: undefined,
  workerInstanceId: undefined,
  outcome: undefined,
  failure: undefined,
}

const blankQueue: Blank<Queue> = {
  type: 'queue',
  id: undefined,
  lane: undefined,
  class: undefined,
  createdAt: undefined,
}

export const recordTypes: readonly RecordType[] = [
  'execution',
  'attempt',
  'queue',
  'flow',
  'edge',
  'step',
  'waitpoint',
  'signal',
]

/** The fields of a record type in their stored order. */
export function fieldsOf(type: RecordType): readonly Field[] {
  switch (type) {
    case 'execution':
      return executionFields
    case 'attempt':
      return attemptFields
    case 'queue':
      return queueFields
    case 'flow':
      return flowFields
    case 'edge':
      return edgeFields
    case 'step':
      return stepFields
    case 'waitpoint':
      return waitpointFields
    case 'signal':
      return signalFields
  }
}

/** A record of this type with every field in its stored order and no values. */
function blankOf(type: RecordType): object {
  switch (type) {
    case 'execution':
      return blankExecution
    case 'attempt':
      return blankAttempt
    case 'queue':
      return blankQueue
    case 'flow':
      return blankFlow
    case 'edge':
      return blankEdge
    case 'step':
      return blankStep
    case 'waitpoint':
      return blankWaitpoint
    case 'signal':
      return blankSignal
  }
}

export function packRecord(record: AnyRecord): Cell[] {
  return packFields(fieldsOf(record.type), record)
}

export function unpackRecord<T extends RecordType>(type: T, cells: Cell[]): RecordTypes[T] {
  return unpackOnto(blankOf(type), fieldsOf(type), cells) as unknown as RecordTypes[T]
}

export function packEvent(event: FabricEvent): Cell[] {
  return packFields(eventFields, event)
}

export function unpackEvent(cells: Cell[]): FabricEvent {
  return unpackFields(eventFields, cells) as unknown as FabricEvent
}
