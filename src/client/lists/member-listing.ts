/** Lists the members of one flow in the order in which they were added. */
import { LIST_PAGE_MAX } from '../../kernel/index.ts'
import type { ListInput, Position } from '../../kernel/index.ts'
import { EngineError } from '../../kernel/engine-error.ts'
import { partitionOf } from '../transport/ids.ts'
import { summarise } from '../executions/description.ts'
import type { ExecutionSummary } from '../executions/description.ts'
import type { Session } from '../session.ts'
import { LIMIT_DEFAULT, STEPS_MAX, scoreIn } from './merged-pages.ts'
import type { Page, PageOptions } from './merged-pages.ts'
import { unwrap } from '../transport/unwrap.ts'

/** The filters of a listing, without its order and its size. */
export type MemberFilter = Omit<ListInput, 'cursor' | 'limit' | 'flowId'>

/** Throws if the flow does not exist. */
export async function listMembers(
  session: Session,
  flow: string,
  filter: MemberFilter,
  { limit = LIMIT_DEFAULT, cursor }: PageOptions,
): Promise<Page<ExecutionSummary>> {
  const flowId = session.resolveFlow(flow)
  const described = session.runIn(partitionOf(flowId), 'describeFlow', { flowId })
  unwrap((await described).result)
  const items: ExecutionSummary[] = []
  let from: Position | undefined = cursor === undefined ? undefined : decode(cursor)
  for (let step = 0; step < STEPS_MAX; step++) {
    const count = Math.min(limit - items.length, LIST_PAGE_MAX)
    const input = { ...filter, flowId, limit: count, cursor: from }
    const { result } = await session.runIn(partitionOf(flowId), 'listExecutions', input)
    items.push(...result.executions.map(summarise))
    from = result.cursor
    if (from === undefined || items.length >= limit) break
  }
  return { items, cursor: from === undefined ? undefined : `m1.${from.score.toString(36)}.${from.id ?? ''}` }
}

function decode(cursor: string): Position {
  const match = /^m1\.([0-9a-z]+)\.([0-9a-f-]+)$/.exec(cursor)
  if (match === null) throw new EngineError('invalid_cursor', { field: 'cursor' })
  return { score: scoreIn(match[1]), id: match[2] }
}
