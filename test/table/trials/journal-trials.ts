/** What holders, callers and tokens may ask of what an execution remembers and waits for. */
import type { DeliverSignalInput, Fence, Instant, ReplayFrom, TokenBinding } from '../../../src/kernel/index.ts'
import { COMPENSATION_MAX, joinName } from '../../../src/kernel/index.ts'
import { fences } from './holder-trials.ts'
import {
  MAILBOX,
  REPLY,
  SHUT,
  SPARE,
  STEP,
  WAIT,
  WAIT_MS,
  answeredThere,
  busySender,
  FULL_MAILBOX,
  holder,
  manyBuffered,
  manySenders,
  manySignals,
  manyStepBytes,
  manySteps,
  manyWaitpoints,
  openedAtStart,
  signalBytes,
  signalInput,
  sleepInput,
  stepFailed,
  stepInput,
  stepRetried,
  stepValue,
  stepsToUndo,
  waitInput,
  withValue,
  withoutValue,
} from './journal-world.ts'
import type { OperationCall } from './operation-call.ts'
import { DEADLINE_OVER_MS, SOON_MS } from './trial.ts'
import type { Trial } from './trial.ts'
import { START_AT, executionId, ownFence } from './world.ts'

const noBlobs: readonly string[] = []

function trial(manner: string, call: OperationCall, blobs: readonly string[], prepare: Trial['prepare']): Trial {
  return { ...call, manner, atMs: SOON_MS, blobs, prepare, about: 'journal' }
}

function fencedTrials(): Trial[] {
  const trials: Trial[] = []
  for (const { name, fence } of fences) {
    trials.push(
      trial(name, { operation: 'recordStep', input: stepInput(fence, STEP, withValue) }, stepValue, undefined),
    )
    trials.push(trial(name, waits(fence, REPLY), noBlobs, undefined))
    trials.push(trial(name, opens(fence, REPLY), noBlobs, undefined))
    trials.push(trial(name, closes(SPARE, fence, undefined), noBlobs, undefined))
    trials.push(trial(name, registers(fence, 2), noBlobs, undefined))
  }
  return trials
}

function waits(fence: Fence, target: string): OperationCall {
  return { operation: 'suspendExecution', input: waitInput(fence, target, 'resume') }
}

function opens(fence: Fence, target: string): OperationCall {
  return {
    operation: 'createWaitpoint',
    input: { executionId, fence, target, expiresInMs: WAIT_MS, keyId: 'key-2' },
  }
}

function closes(target: string, fence: Fence | undefined, force: boolean | undefined): OperationCall {
  return { operation: 'closeWaitpoint', input: { executionId, target, reason: 'unused', by: 'bob', fence, force } }
}

function registers(fence: Fence, count: number): OperationCall {
  return { operation: 'registerCompensation', input: { executionId, fence, count } }
}

function undoes(name: string): OperationCall {
  return { operation: 'recordStep', input: { ...stepInput(ownFence, name, withoutValue), isCompensation: true } }
}

function records(manner: string, call: OperationCall, prepare: Trial['prepare']): Trial {
  return trial(manner, call, stepValue, prepare)
}

function tells(manner: string, input: DeliverSignalInput, prepare: Trial['prepare']): Trial {
  return trial(manner, { operation: 'deliverSignal', input }, signalBytes, prepare)
}

/** After the deadline, before a due pass. */
function tellsLate(manner: string, target: string, prepare: Trial['prepare']): Trial {
  return { ...tells(manner, signalInput(target, 'late'), prepare), atMs: DEADLINE_OVER_MS }
}

function token(target: string, generation: number, openedAt: Instant): TokenBinding {
  return { waitpointId: joinName(executionId, target), generation, openedAt }
}

function tellsWith(manner: string, binding: TokenBinding, prepare: Trial['prepare']): Trial {
  return tells(manner, { ...signalInput(REPLY, 'by-link'), source: holder, token: binding }, prepare)
}

function resumes(manner: string, name: string | undefined): Trial {
  const input = { executionId, by: 'bob', reason: 'by hand', step: name }
  return trial(manner, { operation: 'resumeExecution', input }, noBlobs, undefined)
}

function replays(manner: string, from: ReplayFrom): Trial {
  const input = { executionId, requestId: 'replay-1', reason: 'fixed', by: 'bob', from }
  return trial(manner, { operation: 'replayExecution', input }, noBlobs, undefined)
}

function reissues(manner: string, target: string): Trial {
  const input = { executionId, target, keyId: 'key-2', by: 'bob' }
  return trial(manner, { operation: 'reissueWaitpoint', input }, noBlobs, undefined)
}

function looks(call: OperationCall): Trial {
  return trial('', call, noBlobs, undefined)
}

export const journalTrials: readonly Trial[] = fencedTrials().concat([
  records('failed', { operation: 'recordStep', input: stepInput(ownFence, STEP, stepFailed) }, undefined),
  records(
    'to be tried again',
    { operation: 'recordStep', input: stepInput(ownFence, STEP, stepRetried(false)) },
    undefined,
  ),
  records('to be parked', { operation: 'recordStep', input: stepInput(ownFence, STEP, stepRetried(true)) }, undefined),
  records('one too many', { operation: 'recordStep', input: stepInput(ownFence, 'more', withValue) }, manySteps),
  records('too large', { operation: 'recordStep', input: stepInput(ownFence, 'more', withValue) }, manyStepBytes),
  records('a compensation beyond the limit of steps', undoes('more#undo'), manySteps),
  trial('again', registers(ownFence, 1), noBlobs, undefined),
  trial('one too many', registers(ownFence, COMPENSATION_MAX + 1), noBlobs, undefined),
  trial('at a mailbox', waits(ownFence, MAILBOX), noBlobs, undefined),
  trial('where nothing is open', waits(ownFence, 'nowhere'), noBlobs, undefined),
  trial('where it was closed', waits(ownFence, SHUT), noBlobs, undefined),
  trial('where another wait was answered', waits(ownFence, SHUT), noBlobs, answeredThere),
  trial('asleep', { operation: 'suspendExecution', input: sleepInput(ownFence) }, noBlobs, undefined),
  trial('one step too many', { operation: 'suspendExecution', input: sleepInput(ownFence) }, noBlobs, manySteps),
  trial('one waitpoint too many', waits(ownFence, REPLY), noBlobs, manyWaitpoints),
  trial('one too many', opens(ownFence, 'more'), noBlobs, manyWaitpoints),
  trial('one step too many', opens(ownFence, 'more'), noBlobs, manySteps),
  tells('at a waitpoint', signalInput(REPLY, 'late'), undefined),
  tells('at a waitpoint, again', signalInput(REPLY, 'early'), undefined),
  tells('at a closed waitpoint', signalInput(SHUT, 'late'), undefined),
  tells('at a mailbox', signalInput(MAILBOX, 'late'), undefined),
  tells('at a mailbox, again', signalInput(MAILBOX, 'early'), undefined),
  tells('one too many', signalInput(MAILBOX, 'late'), manySignals),
  tells('one too many that is kept', signalInput(FULL_MAILBOX, 'late'), manyBuffered),
  tellsLate('at a waitpoint, after the deadline', REPLY, undefined),
  tellsLate('at a mailbox, after the deadline', MAILBOX, undefined),
  tellsLate('at a mailbox, after the deadline, with steps to undo', MAILBOX, stepsToUndo),
  tellsWith('with a token', token(REPLY, 1, START_AT), openedAtStart),
  tellsWith('with a token, once too often', token(REPLY, 1, START_AT), busySender),
  tellsWith('with a token, as one sender too many', token(REPLY, 1, START_AT), manySenders),
  tellsWith('with a token of another opening', token(REPLY, 7, START_AT), openedAtStart),
  tellsWith('with a token of another waitpoint', token(SPARE, 1, START_AT), openedAtStart),
  tellsWith('with a token of another time', token(REPLY, 1, START_AT - 1), openedAtStart),
  resumes('any wait', undefined),
  resumes('the wait that is meant', WAIT),
  resumes('another wait', 'another'),
  trial('as an operator', closes(REPLY, undefined, undefined), noBlobs, undefined),
  trial('by force', closes(REPLY, undefined, true), noBlobs, undefined),
  trial('a mailbox', closes(MAILBOX, undefined, true), noBlobs, undefined),
  reissues('', REPLY),
  reissues('of a closed one', SHUT),
  replays('from the start', { kind: 'start' }),
  replays('from a step', { kind: 'step', name: STEP }),
  looks({ operation: 'readSteps', input: { executionId, values: true } }),
  looks({ operation: 'readSignals', input: { executionId, payloads: true } }),
  looks({ operation: 'listWaitpoints', input: { executionId, all: true } }),
  looks({ operation: 'listOpenWaitpoints', input: {} }),
])
