/** The stored order of what an execution remembers and waits for: its journal, steps, waitpoints and signals. */
import type { Field, FieldKind } from './codec.ts'
import { blobInfo, failure, flag, list, object, text, textList, whole, word } from './field-kinds.ts'
import type { Blank } from './field-kinds.ts'
import type { Signal, Step, Waitpoint } from './journal-records.ts'

/** The wait that brought an execution back. */
const resumed: FieldKind = object([
  { name: 'step', of: text },
  { name: 'cause', of: word(['signal', 'operator', 'timeout', 'step_retry']) },
])

const timeoutBehaviour: FieldKind = word(['fail', 'cancel', 'expire', 'resume', 'resume_with_signal', 'escalate'])

const signalEffect: FieldKind = word(['resumed', 'counted', 'counted_before', 'not_awaited', 'buffered'])

const signalSource: FieldKind = object([
  { name: 'type', of: word(['token', 'caller', 'operator', 'engine']) },
  { name: 'identity', of: text },
])

/** A node of a condition, as it is asked for. */
const conditionNode: readonly Field[] = [
  { name: 'kind', of: word(['group', 'leaf', 'operator', 'timeout']) },
  { name: 'parent', of: whole },
  { name: 'need', of: whole },
  { name: 'by', of: word(['once', 'signals', 'sources', 'waitpoints']) },
  { name: 'name', of: text, rare: true },
  { name: 'from', of: textList },
  { name: 'targets', of: textList },
]

export const journalFields: readonly Field[] = [
  { name: 'life', of: whole },
  { name: 'firstLife', of: whole },
  { name: 'nextPosition', of: whole },
  { name: 'stepCount', of: whole },
  { name: 'stepBytes', of: whole },
  { name: 'round', of: whole },
  { name: 'signalCount', of: whole },
  { name: 'bufferedCount', of: whole },
  {
    name: 'open',
    of: list(
      object([
        { name: 'target', of: text },
        { name: 'since', of: whole },
        { name: 'expiresAt', of: whole },
      ]),
    ),
  },
  {
    name: 'cuts',
    of: list(
      object([
        { name: 'from', of: whole },
        { name: 'to', of: whole },
      ]),
    ),
  },
  { name: 'era', of: whole },
  { name: 'resumed', of: resumed },
  { name: 'isRemoving', of: flag },
]

const stepState: FieldKind = {
  kind: 'union',
  tag: 'phase',
  variants: [
    {
      word: 'completed',
      fields: [
        { name: 'at', of: whole },
        { name: 'value', of: object(blobInfo) },
      ],
    },
    {
      word: 'failed',
      fields: [
        { name: 'at', of: whole },
        { name: 'round', of: whole },
        { name: 'failure', of: failure },
      ],
    },
    {
      word: 'retrying',
      fields: [
        { name: 'at', of: whole },
        { name: 'until', of: whole },
        { name: 'round', of: whole },
        { name: 'failure', of: failure },
      ],
    },
    { word: 'open', fields: [{ name: 'since', of: whole }] },
    {
      word: 'closed',
      fields: [
        { name: 'at', of: whole },
        { name: 'how', of: word(['satisfied', 'operator', 'timed_out', 'ended']) },
        { name: 'by', of: text },
        { name: 'reason', of: text },
      ],
    },
  ],
}

const wait = object([
  { name: 'reason', of: text },
  { name: 'until', of: whole },
  { name: 'onTimeout', of: timeoutBehaviour },
  { name: 'nodes', of: list(object([...conditionNode, { name: 'has', of: whole }, { name: 'seen', of: textList }])) },
  { name: 'targets', of: textList },
  { name: 'resumeDelayMs', of: whole, rare: true },
  { name: 'remindEveryMs', of: whole, rare: true },
  { name: 'reminderCount', of: whole },
  { name: 'satisfiers', of: list(whole) },
  { name: 'closer', of: whole },
  { name: 'isEscalated', of: flag },
])

export const stepFields: readonly Field[] = [
  { name: 'id', of: text },
  { name: 'executionId', of: text },
  { name: 'kind', of: word(['call', 'now', 'waitpoint', 'sleep', 'wait']) },
  { name: 'name', of: text },
  { name: 'position', of: whole },
  { name: 'createdAt', of: whole },
  { name: 'attemptCount', of: whole },
  { name: 'size', of: whole },
  { name: 'state', of: stepState },
  { name: 'wait', of: wait, rare: true },
]

export const waitpointFields: readonly Field[] = [
  { name: 'id', of: text },
  { name: 'executionId', of: text },
  { name: 'target', of: text },
  { name: 'createdAt', of: whole },
  { name: 'round', of: whole },
  { name: 'generation', of: whole },
  { name: 'keyId', of: text, rare: true },
  { name: 'signalCount', of: whole },
  { name: 'bufferedCount', of: whole },
  { name: 'openedAfter', of: whole },
  {
    name: 'senders',
    of: list(
      object([
        { name: 'identity', of: text },
        { name: 'count', of: whole },
      ]),
    ),
  },
  { name: 'lastSignalAt', of: whole },
  { name: 'closedAt', of: whole },
  { name: 'closeReason', of: text, rare: true },
  { name: 'answeredBy', of: text, rare: true },
]

export const signalFields: readonly Field[] = [
  { name: 'id', of: text },
  { name: 'executionId', of: text },
  { name: 'target', of: text },
  { name: 'sequence', of: whole },
  { name: 'round', of: whole },
  { name: 'key', of: text },
  { name: 'name', of: text },
  { name: 'source', of: signalSource },
  { name: 'payload', of: object(blobInfo) },
  { name: 'effect', of: signalEffect },
  { name: 'isWaiting', of: flag },
  { name: 'at', of: whole },
]

export const blankStep: Blank<Step> = {
  type: 'step',
  id: undefined,
  executionId: undefined,
  kind: undefined,
  name: undefined,
  position: undefined,
  createdAt: undefined,
  attemptCount: undefined,
  size: undefined,
  state: undefined,
  wait: undefined,
}

export const blankWaitpoint: Blank<Waitpoint> = {
  type: 'waitpoint',
  id: undefined,
  executionId: undefined,
  target: undefined,
  createdAt: undefined,
  round: undefined,
  generation: undefined,
  keyId: undefined,
  signalCount: undefined,
  bufferedCount: undefined,
  openedAfter: undefined,
  senders: undefined,
  lastSignalAt: undefined,
  closedAt: undefined,
  closeReason: undefined,
  answeredBy: undefined,
}

export const blankSignal: Blank<Signal> = {
  type: 'signal',
  id: undefined,
  executionId: undefined,
  target: undefined,
  sequence: undefined,
  round: undefined,
  key: undefined,
  name: undefined,
  source: undefined,
  payload: undefined,
  effect: undefined,
  isWaiting: undefined,
  at: undefined,
}
