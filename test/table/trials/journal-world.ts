/** What the execution of the table remembers and waits for: steps, a waitpoint, a mailbox, and signals to both. */
import {
  BUFFERED_SIGNAL_MAX,
  OPEN_WAITPOINT_MAX,
  SENDER_MAX,
  SENDER_SIGNAL_MAX,
  SIGNAL_MAX,
  STEP_MAX,
  STEP_TOTAL_BYTES,
  joinName,
} from '../../../src/kernel/index.ts'
import type {
  ConditionNode,
  CountBy,
  DeliverSignalInput,
  Execution,
  Fence,
  Journal,
  RecordStepInput,
  SenderCount,
  SignalSource,
  StepOutcome,
  SuspendInput,
  TimeoutBehaviour,
  Waitpoint,
} from '../../../src/kernel/index.ts'
import { storedRecord } from './memory.ts'
import { START_AT, executionId, ownFence, putDirectly, step } from './world.ts'
import type { World } from './world.ts'

/** A waitpoint that a wait opens itself, unless it was opened before. */
export const REPLY = 'reply'
/** A waitpoint that was opened, without a wait. */
export const SPARE = 'spare'
/** A waitpoint that was closed. */
export const SHUT = 'shut'
export const MAILBOX = '@go'
export const WAIT = 'answer'
export const STEP = 'fetch'
/** Over when delays are. */
export const WAIT_MS = 12_000
/** A resume delay that is not over when anything else is tried. */
const RESUME_DELAY_MS = 13_000
const BEAT_MS = 500

const caller: SignalSource = { type: 'caller', identity: 'ada' }
export const holder: SignalSource = { type: 'token', identity: 'ada' }

function leaf(parent: number | undefined, target: string, need: number, by: CountBy): ConditionNode {
  return { kind: 'leaf', parent, need, by, name: undefined, from: [], targets: [target] }
}

/** Waits for one signal at one place. */
export function waitInput(fence: Fence, target: string, onTimeout: TimeoutBehaviour): SuspendInput {
  return {
    executionId,
    fence,
    stepKind: 'wait',
    name: WAIT,
    nodes: [leaf(undefined, target, 1, 'once')],
    opens: target === REPLY ? [REPLY] : [],
    reason: 'signal',
    timeoutMs: WAIT_MS,
    onTimeout,
    keyId: 'key-1',
  }
}

export function sleepInput(fence: Fence): SuspendInput {
  const nodes: ConditionNode[] = []
  return {
    executionId,
    fence,
    stepKind: 'sleep',
    name: 'nap',
    nodes,
    opens: [],
    reason: 'sleep',
    timeoutMs: WAIT_MS,
    onTimeout: 'resume',
  }
}

export function stepInput(fence: Fence, name: string, outcome: StepOutcome): RecordStepInput {
  return { executionId, fence, stepKind: 'call', name, attemptCount: 1, outcome }
}

export const withValue: StepOutcome = { kind: 'completed', value: { blob: 0, size: 5, encoding: 'json' } }
export const withoutValue: StepOutcome = { kind: 'completed' }
export const stepFailed: StepOutcome = {
  kind: 'failed',
  failure: { category: 'error', message: 'no luck' },
  size: 12,
}

export function stepRetried(park: boolean): StepOutcome {
  return { kind: 'retry', failure: { category: 'error', message: 'no luck' }, size: 12, delayMs: WAIT_MS, park }
}

export const stepValue: readonly string[] = ['value']
export const signalBytes: readonly string[] = ['bytes']

export function signalInput(target: string, key: string): DeliverSignalInput {
  return {
    executionId,
    target,
    key,
    name: 'go',
    source: caller,
    payload: { blob: 0, size: 5, encoding: 'json' },
  }
}

export function record(world: World, name: string, outcome: StepOutcome): void {
  step(world, BEAT_MS, { operation: 'recordStep', input: stepInput(ownFence, name, outcome) }, stepValue)
}

export function wait(world: World, input: SuspendInput): World {
  step(world, BEAT_MS, { operation: 'suspendExecution', input })
  return world
}

export function signal(world: World, target: string, key: string): void {
  step(world, BEAT_MS, { operation: 'deliverSignal', input: signalInput(target, key) }, signalBytes)
}

function open(world: World, target: string, expiresInMs: number | undefined): void {
  const input = { executionId, fence: ownFence, target, expiresInMs, keyId: 'key-1' }
  step(world, 0, { operation: 'createWaitpoint', input })
}

export function awaitingReply(world: World): World {
  return wait(world, waitInput(ownFence, REPLY, 'resume'))
}

/** A wait that is answered only after a while. */
export function slowWait(): SuspendInput {
  return { ...waitInput(ownFence, REPLY, 'resume'), resumeDelayMs: RESUME_DELAY_MS }
}

/** Waitpoints were opened, and one of them closed; one received a signal, and so did a mailbox. A step has been recorded. */
export function remembering(world: World): World {
  record(world, STEP, withValue)
  open(world, REPLY, WAIT_MS)
  open(world, SPARE, undefined)
  open(world, SHUT, undefined)
  const input = { executionId, target: SHUT, reason: 'unused', by: 'ada' }
  step(world, 0, { operation: 'closeWaitpoint', input })
  signal(world, REPLY, 'early')
  signal(world, MAILBOX, 'early')
  return world
}

export const FULL_MAILBOX = '@other'

/** Changes the journal of the execution's record, if there is an execution; begins a journal if there is none. */
export function changeJournal(world: World, change: (journal: Journal) => void): void {
  const execution: Execution | undefined = storedRecord(world.memory, 'execution', executionId)
  if (execution === undefined) return
  const journal = execution.journal ?? emptyJournal()
  change(journal)
  execution.journal = journal
  putDirectly(world, execution)
}

function emptyJournal(): Journal {
  return {
    life: 0,
    firstLife: 0,
    nextPosition: 0,
    stepCount: 0,
    stepBytes: 0,
    round: 0,
    signalCount: 0,
    bufferedCount: 0,
    open: [],
    cuts: [],
    era: 0,
    resumed: undefined,
    isRemoving: false,
    linkSignalCount: undefined,
    hasCompletedSteps: undefined,
    compensationCount: undefined,
    childCount: undefined,
    childCancels: undefined,
    hasStreams: undefined,
  }
}

export function manySteps(world: World): void {
  changeJournal(world, (journal) => {
    journal.stepCount = STEP_MAX
  })
}

export function stepsToUndo(world: World): void {
  changeJournal(world, (journal) => {
    journal.hasCompletedSteps = true
  })
}

export function manyStepBytes(world: World): void {
  changeJournal(world, (journal) => {
    journal.stepBytes = STEP_TOTAL_BYTES
  })
}

export function manySignals(world: World): void {
  changeJournal(world, (journal) => {
    journal.signalCount = SIGNAL_MAX
  })
}

/** A mailbox that is full. */
export function manyBuffered(world: World): void {
  if (storedRecord(world.memory, 'execution', executionId) === undefined) return
  putDirectly(world, {
    type: 'waitpoint',
    id: joinName(executionId, FULL_MAILBOX),
    executionId,
    target: FULL_MAILBOX,
    createdAt: START_AT,
    round: 1,
    generation: 1,
    keyId: undefined,
    signalCount: BUFFERED_SIGNAL_MAX,
    bufferedCount: BUFFERED_SIGNAL_MAX,
    openedAfter: 0,
    senders: [],
    lastSignalAt: START_AT,
    closedAt: undefined,
    closeReason: undefined,
    answeredBy: undefined,
    linkBufferedCount: undefined,
    nonce: undefined,
  })
}

/** Changes the waitpoint that tokens are made for, if there is one, and sets its opening to theirs. */
function changeReply(world: World, senders: SenderCount[]): void {
  const waitpoint: Waitpoint | undefined = storedRecord(world.memory, 'waitpoint', joinName(executionId, REPLY))
  if (waitpoint === undefined) return
  waitpoint.createdAt = START_AT
  waitpoint.senders = senders
  putDirectly(world, waitpoint)
}

export function openedAtStart(world: World): void {
  changeReply(world, [])
}

export function busySender(world: World): void {
  changeReply(world, [{ identity: caller.identity, count: SENDER_SIGNAL_MAX }])
}

export function manySenders(world: World): void {
  const senders: SenderCount[] = []
  for (let i = 0; i < SENDER_MAX; i++) senders.push({ identity: 'sender ' + String(i), count: 1 })
  changeReply(world, senders)
}

/** What is closed was closed by the answer to another wait. */
export function answeredThere(world: World): void {
  const waitpoint: Waitpoint | undefined = storedRecord(world.memory, 'waitpoint', joinName(executionId, SHUT))
  if (waitpoint === undefined) return
  waitpoint.answeredBy = joinName('wait', 'another')
  putDirectly(world, waitpoint)
}

/** As many waitpoints are open as may be; of an execution that has ended none is. */
export function manyWaitpoints(world: World): void {
  const execution: Execution | undefined = storedRecord(world.memory, 'execution', executionId)
  if (execution === undefined || execution.state.phase === 'ended') return
  changeJournal(world, (journal) => {
    for (let i = journal.open.length; i < OPEN_WAITPOINT_MAX; i++) {
      journal.open.push({ target: 'w' + String(i), since: world.now, expiresAt: undefined })
    }
  })
}

export function removalBegun(world: World): void {
  changeJournal(world, (journal) => {
    journal.isRemoving = true
  })
}
