import type { BlockCause, Explanation, Failure } from '../kernel/index.ts'

/** One or two plain sentences that answer "why is this not running?". */
export function explanationText(explanation: Explanation): string {
  switch (explanation.why) {
    case 'waits_for_worker':
      return waitingText(explanation)
    case 'delayed':
      return delayedText(explanation)
    case 'blocked':
      return `It is held back since ${instant(explanation.since)}: ${blockText[explanation.by]}.`
    case 'running':
      return runningText(explanation)
    case 'suspended':
      return `It is suspended since ${instant(explanation.since)} and waits for a signal.`
    case 'ended':
      return endedText(explanation)
  }
}

const blockText: Readonly<Record<BlockCause, string>> = {
  dependencies: 'executions that it depends on have not ended',
  budget: 'its budget is used up',
  limit: 'a limit is reached',
  operator: 'an operator paused it',
  hold: 'its flow is still being submitted',
}

function waitingText(explanation: Extract<Explanation, { why: 'waits_for_worker' }>): string {
  const { ahead, aheadLimit, activeInLane, lane, task, since } = explanation
  const queue =
    ahead === 0
      ? 'It is first in line'
      : `${ahead > aheadLimit ? `More than ${aheadLimit}` : ahead} executions are ahead of it`
  const workers =
    activeInLane === 0
      ? `No worker holds any execution of lane '${lane}' now: check that a worker with a handler for task '${task}' serves it.`
      : `Workers hold ${activeInLane} executions of lane '${lane}' now: it starts when one of them has a free slot for task '${task}'.`
  return `It has been ready since ${instant(since)} and waits for a worker. ${queue}. ${workers}`
}

function delayedText(explanation: Extract<Explanation, { why: 'delayed' }>): string {
  const until = explanation.isOverdue
    ? `Its time came at ${instant(explanation.until)}: it is offered as soon as a worker or an engine looks.`
    : `It may run from ${instant(explanation.until)} on.`
  switch (explanation.cause) {
    case 'submitted':
      return `It was submitted with a delay. ${until}`
    case 'worker':
      return `Its handler postponed it. ${until}`
    case 'retry':
      return `Attempt ${explanation.failureCount} of ${explanation.attempts} failed${failureText(explanation.failure)}; it waits before the next. ${until}`
  }
}

function runningText(explanation: Extract<Explanation, { why: 'running' }>): string {
  const { attempt, workerId, since, leaseExpiresAt, isLeaseExpired, cancel } = explanation
  const lease = isLeaseExpired
    ? `The worker's lease ran out at ${instant(leaseExpiresAt)}: it is offered again as soon as a worker or an engine looks.`
    : `The worker's lease runs until ${instant(leaseExpiresAt)}.`
  const wish =
    cancel === undefined
      ? ''
      : ` ${cancel.by} asked for it to be cancelled (${cancel.reason}); it ends at ${instant(cancel.forceAt)} at the latest.`
  return `It is running: attempt ${attempt} on worker '${workerId}' since ${instant(since)}. ${lease}${wish}`
}

function endedText(explanation: Extract<Explanation, { why: 'ended' }>): string {
  const { outcome, endedAt, reason, by, failure } = explanation
  const detail =
    outcome === 'cancelled' ? ` by ${by ?? 'nobody named'} (${reason ?? 'no reason given'})` : failureText(failure)
  return `It ended at ${instant(endedAt)}: ${outcome}${detail}.`
}

function failureText(failure: Failure | undefined): string {
  return failure === undefined ? '' : ` (${failure.category}: ${failure.message.split('\n')[0] ?? ''})`
}

function instant(ms: number): string {
  return new Date(ms).toISOString()
}
