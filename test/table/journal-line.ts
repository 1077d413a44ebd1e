/** What an execution remembers and waits for, in the words of a line of the table. */
import type { Execution, ExecutionState, OperationName, OperationResult, Step } from '../../src/kernel/index.ts'
import { nameText } from './trials/canonical-text.ts'

type JournalResult = Extract<
  OperationResult<OperationName>,
  {
    kind:
      | 'recorded'
      | 'already_recorded'
      | 'suspended'
      | 'already_suspended'
      | 'answered'
      | 'opened'
      | 'already_opened'
      | 'reissued'
      | 'delivered'
      | 'duplicate'
      | 'resumed'
      | 'steps'
      | 'signals'
      | 'waitpoints'
  }
>

/** `since` formats an instant as the table does. */
export function journalResultText(result: JournalResult, since: (instant: number) => string): string {
  const until = (instant: number | undefined): string => (instant === undefined ? '' : ` until ${since(instant)}`)
  switch (result.kind) {
    case 'recorded':
    case 'suspended':
    case 'already_suspended':
      return result.kind + until(result.until)
    case 'already_recorded':
      return `${result.kind} ${result.state.phase}${result.valueBlob === undefined ? '' : ' with value'}`
    case 'answered':
      return `${result.kind} ${endOf(result.step)}`
    case 'opened':
    case 'already_opened':
    case 'reissued': {
      const { target, generation, isOpen, expiresAt } = result.waitpoint
      return `${result.kind} ${target} generation ${generation}${isOpen ? '' : ' closed'}${until(expiresAt)}`
    }
    case 'delivered':
    case 'duplicate':
      return `${result.kind} ${result.sequence} ${result.effect}`
    case 'resumed':
      return `${result.kind} from ${result.step}, ${result.state}`
    case 'steps':
      return listText(result.steps.map(({ step, isFinal }) => stepText(step) + (isFinal ? '' : ', not final')))
    case 'signals':
      return listText(result.signals.map(({ signal }) => `${signal.sequence} to ${signal.target} ${signal.effect}`))
    case 'waitpoints':
      return listText(result.waitpoints.map(({ waitpoint, state }) => `${waitpoint.target} ${state}`))
  }
}

function listText(items: readonly string[]): string {
  return items.length === 0 ? 'nothing' : items.map((item) => `(${item})`).join(' ')
}

function stepText(step: Step): string {
  return `${step.kind} ${step.name} ${endOf(step)}`
}

function endOf({ state }: Step): string {
  return state.phase === 'closed' ? `closed ${state.how}` : state.phase
}

export function suspensionText(
  state: Extract<ExecutionState, { phase: 'suspended' }>,
  since: (instant: number) => string,
): string {
  const until = state.until === undefined ? '' : ` until ${since(state.until)}`
  const reminder = state.remindAt === undefined ? '' : ` remind ${since(state.remindAt)}`
  return `in ${nameText(state.step)} (${state.reason})${until}${reminder}`
}

/** The journal fields of the execution's record; empty if it has no journal. */
export function journalText({ journal }: Execution): string {
  if (journal === undefined) return ''
  const { stepCount, signalCount, bufferedCount, open, cuts, life, firstLife } = journal
  const parts = [
    `${stepCount} steps`,
    `${signalCount} signals`,
    bufferedCount > 0 && `${bufferedCount} unheard`,
    open.length > 4 ? `${open.length} open` : open.length > 0 && `open ${open.map(({ target }) => target).join(' ')}`,
    cuts.length > 0 && 'some set aside',
    firstLife < life && 'an earlier life to be removed',
  ]
  return `; remembers ${parts.filter((part) => part !== false).join(', ')}`
}
