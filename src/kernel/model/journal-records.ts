/**
 * What an execution remembers and what it waits for. All of it belongs to one execution and goes with it: steps are found by
 * kind and name, waitpoints by their target, signals by the waitpoint and the sender's key.
 */
import type { BlobInfo, ExecutionId, Failure, Instant } from './base-records.ts'

/**
 * `call` is work whose result is kept, `now` a moment that stays the same, `waitpoint` a place for signals that was opened
 * ahead of its wait. `sleep` and `wait` let go of the worker.
 */
export type StepKind = 'call' | 'now' | 'waitpoint' | 'sleep' | 'wait'

/** How a wait ended. `ended`: its execution did, so that it is no answer, and a replay waits anew. */
export type WaitEnd = 'satisfied' | 'operator' | 'timed_out' | 'ended'

export type StepState =
  | { phase: 'completed'; at: Instant; value: BlobInfo | undefined }
  /** `round` is that of the execution: once the execution is tried again, so is the step. */
  | { phase: 'failed'; at: Instant; round: number; failure: Failure }
  | { phase: 'retrying'; at: Instant; until: Instant; round: number; failure: Failure }
  | { phase: 'open'; since: Instant }
  | { phase: 'closed'; at: Instant; how: WaitEnd; by: string | undefined; reason: string | undefined }

/** What becomes of an execution whose wait is over without an answer. */
export type TimeoutBehaviour = 'fail' | 'cancel' | 'expire' | 'resume' | 'resume_with_signal' | 'escalate'

/**
 * What makes satisfiers of a leaf distinct. `once`: the first signal is enough and no other adds to it. `sources`: who sent
 * it, whichever way they took. `waitpoints`: where it was sent. `signals`: every signal counts.
 */
export type CountBy = 'once' | 'signals' | 'sources' | 'waitpoints'

/** One node of a condition, as it is asked for. The first is the root; every other one names its parent, which stands before it. */
export interface ConditionNode {
  /** A `group` counts its children that are met; a `leaf` counts signals; the other two are met by no signal at all. */
  kind: 'group' | 'leaf' | 'operator' | 'timeout'
  parent: number | undefined
  need: number
  by: CountBy
  /** The name that a signal must have; without one, any will do. */
  name: string | undefined
  /** Whose signals count, by identity; empty: anybody's. */
  from: string[]
  /** Where a signal must have been sent. */
  targets: string[]
}

/** A node and how far it has come. */
export interface CountedNode extends ConditionNode {
  has: number
  /** The sources or waitpoints that have been counted. */
  seen: string[]
}

export interface Wait {
  /** What it waits for, in a word: `signal`, `approval`, `callback` and the like, or `custom:` and a word of the caller's own. */
  reason: string
  until: Instant | undefined
  onTimeout: TimeoutBehaviour
  nodes: CountedNode[]
  targets: string[]
  resumeDelayMs: number | undefined
  remindEveryMs: number | undefined
  reminderCount: number
  /** The signals that counted, by their numbers in the execution. */
  satisfiers: number[]
  /** The one among them that met the condition. */
  closer: number | undefined
  isEscalated: boolean
}

/** One thing that a handler had recorded. Its id is the execution's, its kind and its name. */
export interface Step {
  type: 'step'
  id: string
  executionId: ExecutionId
  kind: StepKind
  /** As the handler says it; when it says it again, followed by `#2` and so on. */
  name: string
  /** Steps of one execution are numbered in the order in which they were recorded first. */
  position: number
  createdAt: Instant
  /** How often its work was tried. */
  attemptCount: number
  /** Bytes of its value, or of its last failure. */
  size: number
  state: StepState
  wait: Wait | undefined
}

/**
 * A place to which signals are sent. A handler opens one by its key, and it closes with its wait. A mailbox, whose target
 * begins with `@`, belongs to the name of a signal and takes signals as long as its execution lives. Whether one is open
 * stands in the execution's record.
 */
export interface Waitpoint {
  type: 'waitpoint'
  id: string
  executionId: ExecutionId
  target: string
  createdAt: Instant
  /** How often it was opened: signals of an earlier time are not counted again. */
  round: number
  /** What its tokens are bound to: it rises with every opening and every new issue, which makes older tokens worthless. */
  generation: number
  /** The key that its tokens are signed with. */
  keyId: string | undefined
  signalCount: number
  /** Signals that are kept here for a wait that is still to come. */
  bufferedCount: number
  /** The number of the last signal that the execution had accepted when it was opened: older ones are nothing to it. */
  openedAfter: number
  /** How many signals holders of links have sent here, each of them. */
  senders: SenderCount[]
  lastSignalAt: Instant | undefined
  /** When a wait was answered here, its time ran out or somebody closed it. The end of its execution leaves it open to a replay. */
  closedAt: Instant | undefined
  closeReason: string | undefined
  /** The kind and name of the wait that was answered here. */
  answeredBy: string | undefined
}

export interface SenderCount {
  identity: string
  count: number
}

/** `token`: whoever held a signed link. `caller`: a program with access to the store. `engine`: the engine itself. */
export type SourceType = 'token' | 'caller' | 'operator' | 'engine'

export interface SignalSource {
  type: SourceType
  identity: string
}

/**
 * What a signal did. `resumed`: it met the condition. `counted`: it brought the condition nearer. `counted_before`: it would
 * have, but what it stands for was counted already. `not_awaited`: it has a name, or a sender, that the wait does not ask
 * for. `buffered`: kept for a wait that is still to come.
 */
export type SignalEffect = 'resumed' | 'counted' | 'counted_before' | 'not_awaited' | 'buffered'

/** One accepted signal. Its id is the waitpoint's, its round and the sender's key: the same one is not accepted twice. */
export interface Signal {
  type: 'signal'
  id: string
  executionId: ExecutionId
  target: string
  /** Signals of one execution are numbered in the order in which they were accepted, from 1 on. */
  sequence: number
  /** The waitpoint's round when it was accepted. */
  round: number
  key: string
  name: string
  source: SignalSource
  payload: BlobInfo | undefined
  effect: SignalEffect
  /** It is kept for a wait that is still to come: none has counted it yet. */
  isWaiting: boolean
  at: Instant
}

/** A waitpoint that takes signals. Mailboxes are not among them. */
export interface OpenWaitpoint {
  target: string
  since: Instant
  /** When it closes if no wait has come for it; while one has, the wait says how long. */
  expiresAt: Instant | undefined
}

/** Positions of steps that a replay has set aside: as if they were not there, until they are removed. */
export interface Cut {
  from: number
  /** The first position that is not set aside. */
  to: number
}

export type ResumeCause = 'signal' | 'operator' | 'timeout' | 'step_retry'

/** What an execution's own record knows of its steps, waits and signals. */
export interface Journal {
  /**
   * Rises when an ended execution is replaced: steps, waitpoints and signals of one life are nothing to the next, and what
   * is left of earlier ones, from `firstLife` on, is removed in the background.
   */
  life: number
  firstLife: number
  /** The position of the next step. */
  nextPosition: number
  stepCount: number
  stepBytes: number
  /** Rises when the execution is tried again after a failure, or replayed: steps that failed before run again. */
  round: number
  signalCount: number
  /** Signals that are kept for waits which are still to come, at all waitpoints together. */
  bufferedCount: number
  open: OpenWaitpoint[]
  cuts: Cut[]
  /** Rises with every replay that sets steps aside: what they ask of others is then asked anew. */
  era: number
  /** The latest wait that ended so that the execution went on. */
  resumed: { step: string; cause: ResumeCause } | undefined
  /** Its retention is over and part of it is gone: it cannot be replayed any more. */
  isRemoving: boolean
}
