/** Formats one execution as a page for a terminal. */
import type { Execution, Failure } from '../../kernel/index.ts'
import type { ExecutionDescription, Summary } from '../../client/index.ts'
import { firstLine, printable, printableLines } from './printable.ts'
import type { Output } from './output.ts'
import { rowsText, table } from './table.ts'
import type { Row } from './table.ts'
import { stateText } from './state-text.ts'
import { durationText, isoTime, timeText } from './time-text.ts'
import { valueText } from './value-text.ts'

export interface ShownExecution {
  readonly description: ExecutionDescription
  readonly execution: Execution
  readonly summary: Summary | undefined
  readonly withPayload: boolean
}

export function executionText(shown: ShownExecution, output: Output): string {
  const { description } = shown
  const sections = [
    `${output.style('bold', description.id)} ${description.task} ${stateText(description.state, output)}`,
    rowsText([...identityRows(shown), ...timeRows(shown), ...policyRows(shown), ...stateRows(shown)], output),
    shown.summary === undefined ? '' : `summary ${printableLines(valueText(shown.summary.document))}`,
    attemptsText(shown, output),
    failureText(description.failure, output),
    shown.withPayload ? payloadText(description, output) : '',
  ]
  return sections.filter((section) => section !== '').join('\n')
}

function identityRows({ description }: ShownExecution): Row[] {
  const tags = Object.entries(description.tags).map(([name, value]) => `${name}=${printable(value)}`)
  return [
    ['key', description.key],
    ['namespace', description.namespace],
    ['version', description.version?.toString()],
    ['lane', description.lane],
    ['schedule', scheduleText(description)],
    ['shaping', shapingText(description)],
    ['needs', description.needs.length === 0 ? undefined : printable(description.needs.join(' '))],
    ['priority', String(description.priority)],
    ['tags', tags.length === 0 ? undefined : tags.join(' ')],
    ['flow', description.flowId],
    ['node', description.node],
    ['parent', parentText(description.parent)],
    ['after', dependenciesText(description.dependencies)],
  ]
}

function parentText(parent: ExecutionDescription['parent']): string | undefined {
  if (parent === undefined) return undefined
  return `${parent.id}, as ${printable(parent.name)}${parent.isDetached ? ' (detached)' : ''}`
}

/** Summarizes the dependencies; `flow show` names them. */
function dependenciesText(group: ExecutionDescription['dependencies']): string | undefined {
  if (group === undefined || group.total === 0) return undefined
  const { policy, need, total, completed, verdict } = group
  const all = policy === 'ended' ? `the end of ${total}` : `all of ${total}`
  const wanted = policy === 'all_of' || policy === 'ended' ? all : `${need} of ${total}`
  const lost = group.failed + group.skipped
  return `${wanted} others: ${completed} completed${lost === 0 ? '' : `, ${lost} did not`} (${verdict})`
}

function timeRows({ description, execution }: ShownExecution): Row[] {
  const { at, lease, cancelRequested } = description
  const time = (instant: number | undefined) => (instant === undefined ? undefined : timeText(instant, at))
  const timeoutAt = execution.state.phase === 'active' ? execution.state.timeoutAt : undefined
  return [
    ['created', time(description.createdAt)],
    ['started', time(description.startedAt)],
    ['changed', time(description.changedAt)],
    ['ended', time(description.endedAt)],
    ['delayed until', time(description.delayedUntil)],
    ['waits until', time(description.suspension?.until)],
    ['lease until', time(lease?.expiresAt)],
    ['attempt until', time(timeoutAt)],
    ['ends at latest', time(cancelRequested?.forceAt)],
    ['deadline', time(description.deadlineAt)],
    ['kept until', time(description.purgeAt)],
    ['removed', time(description.removed?.at)],
    ['id taken until', time(description.idTakenUntil)],
    ['follow-up since', time(description.followUp?.since)],
  ]
}

function policyRows({ execution }: ShownExecution): Row[] {
  const { retry, attemptTimeoutMs, payload, result } = execution
  const { backoff } = retry
  const wait =
    backoff.kind === 'fixed'
      ? `fixed ${durationText(backoff.delayMs)}`
      : `exponential ${durationText(backoff.initialMs)} to ${durationText(backoff.maxMs)}`
  return [
    ['attempts', retry.attempts === 1 ? '1' : `${retry.attempts}, ${wait}${retry.jitter ? ', jitter' : ''}`],
    ['timeout', attemptTimeoutMs === undefined ? undefined : `${durationText(attemptTimeoutMs)} an attempt`],
    ['input', payload === undefined ? 'none' : `${payload.size} bytes of ${payload.encoding}`],
    ['result', result === undefined ? undefined : `${result.size} bytes of ${result.encoding}`],
  ]
}

function stateRows({ description }: ShownExecution): Row[] {
  const { suspension, journal, refusals, undoFailure } = description
  const { progress, lease, cancelRequested, reason, by, replayCount, reclaimCount, failureCount, at } = description
  const progressText = [
    progress?.percent === undefined ? undefined : `${progress.percent}%`,
    progress?.message === undefined ? undefined : firstLine(progress.message),
    progress === undefined ? undefined : `at ${timeText(progress.at, at)}`,
  ].filter((part) => part !== undefined)
  return [
    ['waits in', suspension === undefined ? undefined : `${suspension.step} (${suspension.reason})`],
    ['steps', journal.stepCount === 0 ? undefined : `${journal.stepCount}, ${journal.stepBytes} bytes`],
    ['signals', journal.signalCount === 0 ? undefined : `${journal.signalCount}, ${journal.bufferedCount} buffered`],
    ['open waitpoints', journal.openWaitpointCount === 0 ? undefined : String(journal.openWaitpointCount)],
    ['compensations', journal.compensationCount === 0 ? undefined : `${journal.compensationCount} registered`],
    ['worker', lease === undefined ? undefined : `${lease.workerId} (${lease.workerInstanceId})`],
    ['progress', progressText.length === 0 ? undefined : progressText.join(' ')],
    [
      'cancel requested',
      cancelRequested === undefined ? undefined : `${firstLine(cancelRequested.reason)} (${cancelRequested.by})`,
    ],
    ['reason', reason === undefined ? undefined : firstLine(reason)],
    ['by', by],
    ['not undone', undoFailure === undefined ? undefined : firstLine(undoFailure.message)],
    [
      'input refused',
      refusals === undefined
        ? undefined
        : `${refusals.count} times (build ${refusals.builds.join(', ')}): ${firstLine(refusals.reason)}`,
    ],
    ['failures', failureCount === 0 ? undefined : String(failureCount)],
    ['leases lost', reclaimCount === 0 ? undefined : String(reclaimCount)],
    ['replays', replayCount === 0 ? undefined : String(replayCount)],
  ]
}

/** Lists the ended attempts and the running one. */
function attemptsText({ description, execution }: ShownExecution, output: Output): string {
  const rows = description.attempts.map((attempt) => [
    String(attempt.number),
    attempt.kind,
    attempt.outcome,
    isoTime(attempt.startedAt),
    durationText(attempt.endedAt - attempt.startedAt),
    attempt.workerId,
    attempt.failure === undefined ? '' : `${attempt.failure.category}: ${firstLine(attempt.failure.message)}`,
  ])
  const current = execution.state.phase === 'active' ? execution.attempt : undefined
  if (current !== undefined) {
    const ran = durationText(description.at - current.startedAt)
    rows.push([String(current.number), current.kind, 'running', isoTime(current.startedAt), ran, current.workerId, ''])
  }
  if (rows.length === 0) return ''
  const header = ['ATTEMPT', 'KIND', 'OUTCOME', 'STARTED', 'TOOK', 'WORKER', 'ERROR'].map((name) =>
    output.style('dim', name),
  )
  return `\n${table([header, ...rows], { alignRight: [0], indent: '  ' })}`
}

/** Prints the last error with its stack. */
function failureText(failure: Failure | undefined, output: Output): string {
  if (failure === undefined) return ''
  const { category, message, stack } = failure
  const isInStack = stack?.includes(message.split('\n')[0] ?? '') === true
  // The message names what the stack does not: the causes of an error, and the child that failed.
  const text = isInStack ? stack : [`${category}: ${message}`, stack ?? ''].join('\n').trimEnd()
  return `\n  ${output.style('dim', 'last error')}\n${indent(printableLines(text))}`
}

function payloadText({ input, result }: ExecutionDescription, output: Output): string {
  const parts: readonly Row[] = [
    ['input', input === undefined ? undefined : valueText(input)],
    ['result', result === undefined ? undefined : valueText(result)],
  ]
  return parts
    .filter(([, text]) => text !== undefined)
    .map(([name, text]) => `\n  ${output.style('dim', name)}\n${indent(printableLines(text ?? ''))}`)
    .join('\n')
}

function indent(text: string): string {
  return text.replace(/^/gm, '    ')
}

function shapingText({ shaping }: ExecutionDescription): string | undefined {
  if (shaping === undefined) return undefined
  const held = shaping.holdsBack ? ', holds back later executions' : ''
  return `${shaping.kind} ${printable(shaping.key)}${held}`
}

function scheduleText({ schedule }: ExecutionDescription): string | undefined {
  if (schedule === undefined) return undefined
  const { name, at, cause } = schedule
  return cause === 'trigger' ? `${name}, triggered by hand` : `${name}, ${cause} ${isoTime(at)}`
}
