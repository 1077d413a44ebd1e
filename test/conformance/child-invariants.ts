/**
 * Children agree with the journals of their parents: a child that runs has an open step, one that has ended has a closed
 * step with its outcome, a result that a parent may read is kept, and a join counts exactly the children that it marked.
 */
import type { Execution, ExecutionId, Join, Step } from '../../src/kernel/index.ts'
import type { PartitionDump } from '../../src/stores/store.ts'
import { executionsOf } from './execution-invariants.ts'

const SEPARATOR = '\u001f'

export function childProblems(dump: PartitionDump): string[] {
  const executions = new Map(executionsOf(dump).map((execution) => [execution.id, execution]))
  const steps = new Map(
    dump.records.filter((record) => record.type === 'step').map((step): [string, Step] => [step.id, step]),
  )
  const problems: string[] = []
  for (const execution of executions.values()) {
    problems.push(...ofChild(execution, executions, steps))
    problems.push(...ofJoin(execution, steps))
  }
  for (const step of steps.values()) problems.push(...ofStep(step, executions))
  return problems
}

/** A child that is kept for its parent has a step there that names it. */
function ofChild(
  child: Execution,
  executions: ReadonlyMap<ExecutionId, Execution>,
  steps: ReadonlyMap<string, Step>,
): string[] {
  const parent = child.parent
  if (parent === undefined || parent.isDetached === true || parent.isReleased === true) return []
  if (!executions.has(parent.executionId)) return [`${child.id} is kept for a parent that does not exist`]
  const scope = parent.life === 0 ? [parent.executionId] : [parent.executionId, String(parent.life)]
  const step = steps.get([...scope, 'child', parent.name].join(SEPARATOR))
  return step?.child?.executionId === child.id ? [] : [`${child.id} is kept for a parent without a step for it`]
}

function ofStep({ id, state, child: link }: Step, executions: ReadonlyMap<ExecutionId, Execution>): string[] {
  if (link === undefined || link.isDetached === true) return []
  const name = id.replaceAll(SEPARATOR, '/')
  const child = executions.get(link.executionId)
  if (child === undefined) return [`the child of ${name} does not exist`]
  if (child.parent?.isReleased === true) return [`the child of ${name} is released`]
  const outcome = child.state.phase === 'ended' ? child.state.outcome : undefined
  if (state.phase === 'open')
    return outcome === undefined ? [] : [`the child of ${name} has ended, and its step is open`]
  if (state.phase === 'completed') {
    const isSame = outcome === 'completed' && JSON.stringify(state.value) === JSON.stringify(child.result)
    return isSame ? [] : [`the step ${name} has another result than its child`]
  }
  return state.phase === 'failed' ? [] : [`the step ${name} is ${state.phase}`]
}

/** The join that an execution waits in is undecided, and counts the ends of the children that it marked. */
function ofJoin(execution: Execution, steps: ReadonlyMap<string, Step>): string[] {
  const { state, journal } = execution
  if (state.phase !== 'suspended' || !state.step.startsWith(`join${SEPARATOR}`)) return []
  const scope = (journal?.life ?? 0) === 0 ? [execution.id] : [execution.id, String(journal?.life)]
  const joinStep = steps.get([...scope, state.step].join(SEPARATOR))
  const join = joinStep?.join
  if (joinStep === undefined || join === undefined) return [`${execution.id} waits in a join that does not exist`]
  const marked = [...steps.values()].filter(
    (step) =>
      step.executionId === execution.id &&
      step.child?.mark?.join === state.step &&
      step.child.mark.position === joinStep.position,
  )
  const completed = marked.filter((step) => step.state.phase === 'completed').length
  const failed = marked.filter((step) => step.state.phase === 'failed').length
  const isRight =
    join.isFilled &&
    marked.length === join.total &&
    join.completed === completed &&
    join.failed === failed &&
    isUndecided(join)
  return isRight ? [] : [`${execution.id} waits for ${join.total} children, and counts ${JSON.stringify(join)}`]
}

function isUndecided({ policy, completed, failed, need, total }: Join): boolean {
  switch (policy) {
    case 'all':
      return failed === 0 && completed < total
    case 'settled':
      return completed + failed < total
    case 'quorum':
      return completed < need && total - failed >= need
  }
}
