/** Lists the children of one execution from its journal, in the order in which they were first started. */
import { STEP_PAGE_MAX, matchesListing } from '../../kernel/index.ts'
import type { Execution, ExecutionId, ListInput, OperationInput } from '../../kernel/index.ts'
import { describeExecution } from '../executions/execution-calls.ts'
import { summarise } from '../executions/description.ts'
import type { ExecutionSummary } from '../executions/description.ts'
import type { Session } from '../session.ts'
import { unwrap } from '../transport/unwrap.ts'
import { LIMIT_DEFAULT, STEPS_MAX, scoreIn } from './merged-pages.ts'
import type { Page, PageOptions } from './merged-pages.ts'

/** The filters of a listing, without its order and its size. */
export type ChildFilter = Omit<ListInput, 'cursor' | 'limit'>

/** A child that was removed after its own retention is left out. Throws if the parent does not exist. */
export async function listChildren(
  session: Session,
  parent: string,
  filter: ChildFilter,
  { limit = LIMIT_DEFAULT, cursor }: PageOptions,
): Promise<Page<ExecutionSummary>> {
  const executionId = session.resolve(parent)
  const items: ExecutionSummary[] = []
  let from: number | undefined = cursor === undefined ? 0 : positionIn(cursor)
  for (let page = 0; page < STEPS_MAX && from !== undefined && items.length < limit; page++) {
    const input: OperationInput<'readSteps'> = { executionId, from, limit: STEP_PAGE_MAX }
    const { result } = await session.run(executionId, 'readSteps', input)
    const { steps, next } = unwrap(result)
    const started = steps.flatMap(({ step: { child, position } }) =>
      child === undefined ? [] : [{ id: child.executionId, position }],
    )
    const children = await Promise.all(started.map(({ id }) => readExecution(session, id)))
    from = next
    for (const [i, { position }] of started.entries()) {
      const child = children[i]
      if (child === undefined || !matchesListing(child, filter)) continue
      if (items.length === limit) {
        from = position
        break
      }
      items.push(summarise(child))
    }
  }
  return { items, cursor: from === undefined ? undefined : `c1.${from.toString(36)}` }
}

async function readExecution(session: Session, id: ExecutionId): Promise<Execution | undefined> {
  const { result } = await describeExecution(session, id)
  return result.kind === 'refused' ? undefined : result.execution
}

function positionIn(cursor: string): number {
  return scoreIn(/^c1\.([0-9a-z]+)$/.exec(cursor)?.[1])
}
