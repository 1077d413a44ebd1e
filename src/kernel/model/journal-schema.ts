/**
 * Steps, waitpoints, signals and the journal that an execution keeps of them, as they are stored. All of them belong to one
 * execution and are removed with it. Steps are found by kind and name, waitpoints by their target, signals by the waitpoint
 * and the sender's key. New fields, words and variants go to the end.
 */
import { blobInfo, executionId, failure, outcome } from './base-records.ts'
import { amountList } from './budget-schema.ts'
import { losers } from './flow-schema.ts'
import { flag, list, maybe, object, rare, record, text, textList, union, whole, word } from './field-kinds.ts'
import type { Infer, InferRecord } from './field-kinds.ts'

const stepKind = word(['call', 'now', 'waitpoint', 'sleep', 'wait', 'child', 'join'])

/**
 * `call` is work whose result is stored, `now` a recorded instant, `waitpoint` a place for signals that was opened ahead of
 * its wait. `sleep` and `wait` suspend the execution. `child` is another execution that the handler has started, and `join` a
 * wait for children.
 */
export type StepKind = Infer<typeof stepKind>

const waitEnd = word(['satisfied', 'operator', 'timed_out', 'ended'])

/** How a wait ended. `ended`: its execution ended, so the wait has no answer, and a replay waits again. */
export type WaitEnd = Infer<typeof waitEnd>

const stepState = union('phase', {
  completed: { at: whole, value: maybe(blobInfo) },
  /** `round` is the execution's: once the execution is retried, so is the step. */
  failed: { at: whole, round: whole, failure },
  retrying: { at: whole, until: whole, round: whole, failure },
  open: { since: whole },
  closed: { at: whole, how: waitEnd, by: maybe(text), reason: maybe(text) },
})

export type StepState = Infer<typeof stepState>

const timeoutBehaviour = word(['fail', 'cancel', 'expire', 'resume', 'resume_with_signal', 'escalate'])

/** What happens to an execution whose wait times out. */
export type TimeoutBehaviour = Infer<typeof timeoutBehaviour>

const countBy = word(['once', 'signals', 'sources', 'waitpoints'])

/**
 * What makes the satisfiers of a leaf distinct. `once`: the first signal is enough. `sources`: the sender's identity.
 * `waitpoints`: the waitpoint that received it. `signals`: every signal counts.
 */
export type CountBy = Infer<typeof countBy>

const conditionFields = {
  /** A `group` counts its satisfied children, a `leaf` counts signals. The other two are satisfied by no signal. */
  kind: word(['group', 'leaf', 'operator', 'timeout']),
  parent: maybe(whole),
  need: whole,
  by: countBy,
  /** The name that a signal must have. Any name, if absent. */
  name: rare(text),
  /** The identities whose signals count. Any identity, if empty. */
  from: textList,
  /** The waitpoints whose signals count. */
  targets: textList,
}

const conditionNode = object(conditionFields)

/** One node of a condition. The first node is the root; every other one names its parent, which stands before it. */
export type ConditionNode = Infer<typeof conditionNode> & {
  /** A sender that was counted by one exclusive leaf of a group is not counted by the other ones. */
  readonly isExclusive?: boolean | undefined
}

const countedNode = object({
  ...conditionFields,
  has: whole,
  /** The sources or waitpoints that have been counted. */
  seen: textList,
  isExclusive: rare(flag),
})

/** A node with its progress. */
export type CountedNode = Infer<typeof countedNode>

const wait = object({
  /** The kind of wait, such as `signal`, `approval` or `sleep`. */
  reason: text,
  until: maybe(whole),
  onTimeout: timeoutBehaviour,
  nodes: list(countedNode),
  targets: textList,
  resumeDelayMs: rare(whole),
  remindEveryMs: rare(whole),
  reminderCount: whole,
  /** The signals that counted, by sequence number. */
  satisfiers: list(whole),
  /** The one among them that satisfied the condition. */
  closer: maybe(whole),
  isEscalated: flag,
  /** Of the question of a budget: what an approval adds to it, unless it names other amounts. */
  asks: rare(amountList),
})

export type Wait = Infer<typeof wait>

const childMark = object({
  /** The key of the join, and its position: a join that begins again has another one. */
  join: text,
  position: whole,
  /** The place of the child in the list that the handler waits for. */
  ordinal: whole,
})

const child = object({
  executionId,
  /** The round in which the handler last asked for the child. A failure is the result of that round. */
  round: whole,
  /** Set once the child has ended. */
  outcome: maybe(outcome),
  isDetached: rare(flag),
  /** The join that counts it. */
  mark: rare(childMark),
})

/** An execution that a handler has started. */
export type Child = Infer<typeof child>

const joinPolicy = word(['all', 'settled', 'quorum'])

/** When a wait for children ends. `settled`: all have ended, in any way. `quorum`: enough have completed. */
export type JoinPolicy = Infer<typeof joinPolicy>

const joinVerdict = word(['pending', 'satisfied', 'impossible'])

export type JoinVerdict = Infer<typeof joinVerdict>

const join = object({
  policy: joinPolicy,
  /** The number of a quorum. */
  need: whole,
  total: whole,
  /** What happens to the children that have not ended when it is decided. */
  losers,
  completed: whole,
  /** Children that ended in any other way. */
  failed: whole,
  verdict: joinVerdict,
  /** The ordinals of the children that made a quorum, in the order in which they completed. */
  winners: list(whole),
  /** The ordinal of the first child that failed. */
  firstFailed: maybe(whole),
  /** The execution's round, and the epoch of the lease that began it. */
  round: whole,
  epoch: whole,
  /** Whether all its children are known. It is not decided before. */
  isFilled: flag,
})

/** A wait for children. */
export type Join = Infer<typeof join>

export const step = record('step', {
  /** The ids of the execution's life, the kind and the name. */
  id: text,
  executionId,
  kind: stepKind,
  /** The handler's name for the step; a repeated name is followed by `#2` and so on. */
  name: text,
  /** Steps of an execution are numbered in the order in which they were first recorded. */
  position: whole,
  createdAt: whole,
  attemptCount: whole,
  /** Bytes of its value, or of its last failure. */
  size: whole,
  state: stepState,
  wait: rare(wait),
  child: rare(child),
  join: rare(join),
  /** How many compensations were registered when it was first recorded. A replay from here keeps them. */
  compensationsBefore: rare(whole),
})

/** One durable call of a handler. */
export interface Step extends InferRecord<typeof step> {}

const senderCount = object({ identity: text, count: whole })

export type SenderCount = Infer<typeof senderCount>

export const waitpoint = record('waitpoint', {
  id: text,
  executionId,
  target: text,
  createdAt: whole,
  /** How often it was opened. Signals of an earlier round do not count again. */
  round: whole,
  /** Tokens are bound to it. Rises with every opening and every reissue, which invalidates older tokens. */
  generation: whole,
  /** The key that signs its tokens. */
  keyId: rare(text),
  signalCount: whole,
  /** Signals buffered here for a later wait. */
  bufferedCount: whole,
  /** The sequence number of the execution's latest signal when it was opened. Older signals do not count. */
  openedAfter: whole,
  /** Signals sent by each holder of a link. */
  senders: list(senderCount),
  lastSignalAt: maybe(whole),
  /** When its wait was answered or timed out, or it was closed. The end of the execution leaves it open to a replay. */
  closedAt: maybe(whole),
  closeReason: rare(text),
  /** Kind and name of the wait that was answered here. */
  answeredBy: rare(text),
  /** How many of the buffered signals came by links. */
  linkBufferedCount: rare(whole),
  /** Drawn at random at each opening, so that no token of another opening is ever valid here. */
  nonce: rare(text),
})

/**
 * A place to which signals are sent. A handler opens one by its key, and it closes with its wait. A mailbox, whose target
 * begins with `@`, belongs to the name of a signal and accepts signals as long as its execution lives. The execution's
 * record lists the open waitpoints.
 */
export interface Waitpoint extends InferRecord<typeof waitpoint> {}

const signalSource = object({
  type: word(['token', 'caller', 'operator', 'engine']),
  identity: text,
})

/** `token`: the holder of a signed link. `caller`: a program with access to the store. */
export type SignalSource = Infer<typeof signalSource>
export type SourceType = SignalSource['type']

const signalEffect = word(['resumed', 'counted', 'counted_before', 'not_awaited', 'buffered'])

/**
 * The effect of a signal. `resumed`: it satisfied the condition. `counted`: it added to the condition. `counted_before`: its
 * source or waitpoint had been counted already. `not_awaited`: the wait does not ask for its name or sender. `buffered`:
 * stored for a later wait.
 */
export type SignalEffect = Infer<typeof signalEffect>

export const signal = record('signal', {
  /** The waitpoint's id, its round and the sender's key, so a repeated signal is accepted once. */
  id: text,
  executionId,
  target: text,
  /** Signals of an execution are numbered in the order in which they were accepted, from 1. */
  sequence: whole,
  /** The waitpoint's round when it was accepted. */
  round: whole,
  key: text,
  name: text,
  source: signalSource,
  payload: maybe(blobInfo),
  effect: signalEffect,
  /** Buffered for a later wait: no wait has counted it yet. */
  isWaiting: flag,
  at: whole,
  /** A running handler has taken it from its inbox, so no wait counts it. */
  isTaken: rare(flag),
})

/** One accepted signal. */
export interface Signal extends InferRecord<typeof signal> {}

const openWaitpoint = object({
  target: text,
  since: whole,
  /** When it closes unless a wait uses it. The wait's own timeout applies then. */
  expiresAt: maybe(whole),
})

/** A waitpoint that accepts signals. Mailboxes are not listed. */
export type OpenWaitpoint = Infer<typeof openWaitpoint>

const cut = object({
  from: whole,
  /** The first position that is kept. */
  to: whole,
})

/** Positions of steps that a replay has discarded and that are still to be removed. */
export type Cut = Infer<typeof cut>

const resumeCause = word(['signal', 'operator', 'timeout', 'step_retry', 'children'])

export type ResumeCause = Infer<typeof resumeCause>

const childCancels = object({
  /** The first position that may have children to cancel. */
  from: whole,
  /** Children below this position are cancelled in any case. */
  allTo: whole,
  /** Children below this position are cancelled if their join has been decided without them. */
  to: whole,
  at: whole,
})

/** Pending cancels of children: the execution was stopped, or a join cancels its losers. */
export type ChildCancels = Infer<typeof childCancels>

export const journal = object({
  /** Rises when an ended execution is replaced. Records of lives from `firstLife` on are removed in the background. */
  life: whole,
  firstLife: whole,
  /** The position of the next step. */
  nextPosition: whole,
  stepCount: whole,
  stepBytes: whole,
  /** Rises with every retry and replay of the execution: steps that failed in an earlier round run again. */
  round: whole,
  signalCount: whole,
  /** Signals buffered for later waits at all waitpoints. */
  bufferedCount: whole,
  open: list(openWaitpoint),
  cuts: list(cut),
  /** Rises with every replay that discards steps, so that their idempotency keys change. */
  era: whole,
  /** The latest wait after which the execution resumed. */
  resumed: maybe(object({ step: text, cause: resumeCause })),
  /** Its retention is over and part of it is removed: it can no longer be replayed. */
  isRemoving: flag,
  /** How many of its signals came by links. */
  linkSignalCount: rare(whole),
  /** Whether a step of kind `call` has completed or a child was started, so that its handler may have to undo it. */
  hasCompletedSteps: rare(flag),
  /** How many compensations a run of its handler has registered at most. */
  compensationCount: rare(whole),
  /** How many of its steps are children. They have a limit of their own. */
  childCount: rare(whole),
  childCancels: rare(childCancels),
  /** Whether this life or an earlier one has a stream. */
  hasStreams: rare(flag),
})

/** What an execution's own record holds about its steps, waits and signals. */
export type Journal = Infer<typeof journal>
