/** Formats the journal of an execution as tables. */
import type { SignalSummary, StepSummary } from '../../client/index.ts'
import { firstLine, printable, printableLines } from './printable.ts'
import type { Output } from './output.ts'
import { table } from './table.ts'
import { isoTime } from './time-text.ts'
import { valueText } from './value-text.ts'

export interface Recorded {
  readonly steps: readonly StepSummary[]
  readonly signals: readonly SignalSummary[]
}

export function recordedText({ steps, signals }: Recorded, withValues: boolean, output: Output): string {
  return [
    stepTable(steps, output),
    signals.length === 0 ? '' : `\n${signalTable(signals, output)}`,
    withValues ? valuesText(steps, signals, output) : '',
  ]
    .filter((section) => section !== '')
    .join('\n')
}

function stepTable(steps: readonly StepSummary[], output: Output): string {
  const header = ['', 'STEP', 'KIND', 'STATE', 'TRIES', 'BYTES', 'SINCE', ''].map((name) => output.style('dim', name))
  const rows = steps.map((step) => [
    String(step.position),
    printable(step.name),
    step.kind,
    stateOf(step),
    String(step.attemptCount),
    String(step.size),
    isoTime(step.changedAt),
    remark(step),
  ])
  return table([header, ...rows], { alignRight: [0, 4, 5] })
}

/**
 * A sleep that timed out is shown as completed, a child with its outcome, and a wait for children with its verdict. The outcome
 * of a detached child is not recorded with its parent.
 */
function stateOf({ kind, how, state, child, join }: StepSummary): string {
  if (child?.isDetached === true) return 'started'
  if (child?.outcome !== undefined) return child.outcome
  if (join !== undefined && how === 'satisfied') return join.verdict
  return kind === 'sleep' && how === 'timed_out' ? 'completed' : (how ?? state)
}

/** Details of a step: its child, its failure, the progress of its wait, and the actor that ended it. */
function remark({ failure, retryAt, state, wait, child, join, by, reason }: StepSummary): string {
  const parts = [
    child?.id,
    join === undefined ? undefined : joinText(join),
    failure === undefined ? undefined : `${failure.category}: ${firstLine(failure.message)}`,
    retryAt === undefined ? undefined : `retried at ${isoTime(retryAt)}`,
    wait?.isEscalated === true ? 'escalated' : undefined,
    state === 'open' ? wait?.counts.map(countText).join(', ') : undefined,
    state === 'open' && wait?.until !== undefined ? `until ${isoTime(wait.until)}` : undefined,
    by === undefined ? undefined : `by ${printable(by)}`,
    reason === undefined ? undefined : `(${firstLine(reason)})`,
  ]
  return parts.filter((part) => part !== undefined && part !== '').join(' ')
}

function joinText({ policy, need, total, completed, failed }: NonNullable<StepSummary['join']>): string {
  const goal = policy === 'quorum' ? `${need} of ${total}` : `${policy} ${total}`
  return `${goal}: ${completed} completed${failed === 0 ? '' : `, ${failed} did not`}`
}

function countText({ name, has, need }: { name: string | undefined; has: number; need: number }): string {
  return `${has} of ${need}${name === undefined ? '' : ` ${printable(name)}`}`
}

function signalTable(signals: readonly SignalSummary[], output: Output): string {
  const header = ['', 'SIGNAL', 'WAITPOINT', 'BY', 'EFFECT', 'BYTES', 'AT'].map((name) => output.style('dim', name))
  const rows = signals.map((signal) => [
    String(signal.sequence),
    printable(signal.name),
    printable(signal.waitpoint ?? ''),
    `${printable(signal.by.identity)} (${signal.by.type})`,
    signal.effect,
    String(signal.size),
    isoTime(signal.at),
  ])
  return table([header, ...rows], { alignRight: [0, 5] })
}

function valuesText(steps: readonly StepSummary[], signals: readonly SignalSummary[], output: Output): string {
  const named = [
    ...steps.map(({ name, value }) => ({ title: `step ${name}`, value })),
    ...signals.map(({ name, sequence, value }) => ({ title: `signal ${sequence} ${name}`, value })),
  ]
  return named
    .filter(({ value }) => value !== undefined)
    .map(({ title, value }) => `\n${output.style('dim', printable(title))}\n${printableLines(valueText(value))}`)
    .join('\n')
}
