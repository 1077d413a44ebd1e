/** What an execution remembers and waits for, in the words of a line of the table. */
import type { Execution, ExecutionState, Join, OperationName, OperationResult, Step } from '../../src/kernel/index.ts'
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
      | 'started'
      | 'joining'
      | 'decided'
  }
>

/** `since` formats an instant as the table does. */
export function journalResultText(result: JournalResult, since: (instant: number) => string): string {
  const until = (instant: number | undefined): string => (instant === undefined ? '' : ` until ${since(instant)}`)
  switch (result.kind) {
    case 'recorded':
    case 'suspended':
    case 'already_suspended':
      return result.kind + until('until' in result ? result.until : undefined)
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
    case 'started':
      return `${result.kind} ${listText(result.children.map((child) => `${child.name} ${child.isNew ? 'new' : (child.state?.phase ?? 'not started')}`))}${verdictText(result.join)}`
    case 'joining':
      return result.kind
    case 'decided':
      return result.kind + verdictText(result.join)
    case 'signals':
      return listText(result.signals.map(({ signal }) => `${signal.sequence} to ${signal.target} ${signal.effect}`))
    case 'waitpoints':
      return listText(result.waitpoints.map(({ waitpoint, state }) => `${waitpoint.target} ${state}`))
  }
}

function verdictText(join: Join | undefined): string {
  return join === undefined ? '' : ` ${join.verdict} ${join.completed} of ${join.total}`
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
export function journalText({ journal, parent }: Execution): string {
  const child =
    parent === undefined ? '' : `; a child, '${parent.name}'${parent.isReleased === true ? ', released' : ''}`
  if (journal === undefined) return child
  const { stepCount, signalCount, bufferedCount, open, cuts, life, firstLife } = journal
  const parts = [
    `${stepCount} steps`,
    `${signalCount} signals`,
    bufferedCount > 0 && `${bufferedCount} unheard`,
    open.length > 4 ? `${open.length} open` : open.length > 0 && `open ${open.map(({ target }) => target).join(' ')}`,
    cuts.length > 0 && 'some set aside',
    firstLife < life && 'an earlier life to be removed',
    (journal.childCount ?? 0) > 0 && `${journal.childCount} children`,
    journal.childCancels !== undefined && `cancels of children from ${journal.childCancels.from}`,
  ]
  return `; remembers ${parts.filter((part) => part !== false).join(', ')}${child}`
}
