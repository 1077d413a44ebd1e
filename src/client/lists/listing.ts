/** Lists executions over all partitions, in bounded steps. */
import { oneOf, shape, unchecked } from '../../options/shape.ts'
import { scheduleId as idOfSchedule, LIST_PAGE_MAX, publicStates } from '../../kernel/index.ts'
import type { PublicState } from '../../kernel/index.ts'
import { executionPartition } from '../../stores/store.ts'
import type { Session } from '../session.ts'
import { summarise } from '../executions/description.ts'
import type { ExecutionSummary } from '../executions/description.ts'
import { listChildren } from './child-listing.ts'
import { checkScheduleName } from '../define/schedule.ts'
import { mergePages, pageOptions } from './merged-pages.ts'
import type { Page, PageOptions } from './merged-pages.ts'
import { listMembers } from './member-listing.ts'
import {
  checkKey,
  checkLane,
  checkNamespace,
  checkTagQuery,
  checkTaskName,
  invalidInput,
  show,
} from '../checks/names.ts'

export interface TagQuery {
  readonly name: string
  readonly value: string
}

export interface ListQuery {
  readonly lane?: string
  /** One task, or one of several. */
  readonly task?: string | readonly string[]
  /** One state, or one of several: `['failed', 'expired']`. */
  readonly state?: PublicState | readonly PublicState[]
  /** One tag, or all of several. */
  readonly tag?: TagQuery | readonly TagQuery[]
  /** All namespaces unless given. */
  readonly namespace?: string
  /** Only executions that the schedule of this name has created. */
  readonly schedule?: string
  /** Only members of the flow with this id or key, in the order in which they were added. */
  readonly flow?: string
  /** Only executions whose own id begins with this text. */
  readonly keyPrefix?: string
  /** Only executions whose last failure has this category, such as `timeout`. */
  readonly error?: string
  readonly createdFrom?: number
  readonly createdTo?: number
  readonly endedFrom?: number
  readonly endedTo?: number
  /** Only children of the execution with this id or key, in the order in which they were first started. */
  readonly parent?: string
}

export interface ListOptions extends ListQuery, PageOptions {}

const listOptions = shape<ListOptions>()("{ state: 'failed', limit: 20 }", {
  ...pageOptions.checks,
  lane: checkLane,
  task: oneOrMore(checkTaskName),
  state: oneOrMore(oneOf(publicStates)),
  tag: oneOrMore((value, field) => checkTagQuery(value, field)),
  namespace: checkNamespace,
  schedule: checkScheduleName,
  createdFrom: checkInstant,
  createdTo: checkInstant,
  endedFrom: checkInstant,
  endedTo: checkInstant,
  flow: unchecked<string>(),
  keyPrefix: checkKey,
  error: (value, field) => checkTaskName(value, field),
  parent: unchecked<string>(),
})

/** Throws if a value of the query is none that a listing accepts. */
export function checkListQuery(query: ListQuery): void {
  listOptions(query)
}

/** Alternatives, or tags, of one listing. */
const WANTED_MAX = 16

export type ExecutionPage = Page<ExecutionSummary>

export async function listExecutions(session: Session, options: ListOptions): Promise<ExecutionPage> {
  const { limit, cursor, parent, schedule, flow, ...query } = listOptions(options)
  const { executionPartitions, indexedTags } = session.settings
  const namespace = session.listed(query.namespace)
  const scheduleId = schedule === undefined ? undefined : idOfSchedule(query.namespace ?? session.namespace, schedule)
  const tag = query.tag?.map((wanted) => ({ ...wanted, indexed: indexedTags.includes(wanted.name) }))
  if (parent !== undefined)
    return await listChildren(session, parent, { ...query, namespace, tag, scheduleId }, { limit, cursor })
  if (flow !== undefined)
    return await listMembers(session, flow, { ...query, namespace, tag, scheduleId }, { limit, cursor })
  return await mergePages(executionPartitions, { limit, cursor }, async (partition, count, from) => {
    const input = { ...query, namespace, tag, scheduleId, limit: Math.min(count, LIST_PAGE_MAX), cursor: from }
    const { result } = await session.runIn(executionPartition(partition), 'listExecutions', input)
    return { items: result.executions.map(summarise), cursor: result.cursor }
  })
}

/** Checks one value, or each of a list. Returns a list. */
function oneOrMore<T>(check: (value: unknown, field: string) => T): (value: unknown, field: string) => readonly T[] {
  return (value, field) => {
    if (!Array.isArray(value)) return [check(value, field)]
    if (value.length >= 1 && value.length <= WANTED_MAX) return value.map((one) => check(one, field))
    throw invalidInput(field, `${field} has ${value.length} entries, but must have from 1 to ${WANTED_MAX}.`)
  }
}

function checkInstant(value: unknown, field: string): number {
  if (Number.isSafeInteger(value)) return value as number
  throw invalidInput(field, `${field} is ${show(value)}, but must be milliseconds since the epoch.`)
}
