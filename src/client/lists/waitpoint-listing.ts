/** Lists waitpoints as operators and programs may see them, without tokens. */
import { boolean, shape } from '../../options/shape.ts'
import { LIMIT_DEFAULT, compareInTime, mergePages, pageOptions, scoreIn } from './merged-pages.ts'
import type { ListOrder, Page, PageOptions } from './merged-pages.ts'
import { WAITPOINT_PAGE_MAX } from '../../kernel/index.ts'
import type { ExecutionId, Instant, ListedWaitpoint, Position } from '../../kernel/index.ts'
import { unwrap } from '../transport/unwrap.ts'
import { executionPartition } from '../../stores/store.ts'
import type { Session } from '../session.ts'

export interface WaitpointSummary {
  readonly executionId: ExecutionId
  readonly task: string
  /** The key that its handler uses. A mailbox is `@` and the name of its signal. */
  readonly key: string
  /** `awaited`: a wait is open. `pending`: signals are buffered for a wait. `mailbox`: the same, for one signal's name. */
  readonly state: ListedWaitpoint['state']
  readonly openedAt: Instant
  /** When it expires. */
  readonly expiresAt: Instant | undefined
  /** The current wait at it. */
  readonly step: string | undefined
  /** The names of signals that the wait counts; empty means any. */
  readonly names: readonly string[]
  /** The identities whose signals the wait counts; empty means anyone. */
  readonly from: readonly string[]
  readonly signalCount: number
  /** Buffered signals, which no wait has consumed yet. */
  readonly bufferedCount: number
  readonly lastSignalAt: Instant | undefined
  readonly closedAt: Instant | undefined
  readonly closeReason: string | undefined
}

export type WaitpointPage = Page<WaitpointSummary>

export type ListWaitpointsOptions = PageOptions

export interface ExecutionWaitpointsOptions extends PageOptions {
  /** True includes closed waitpoints and mailboxes. */
  readonly all?: boolean
}

const executionOptions = shape<ExecutionWaitpointsOptions>()('{ all: true }', { ...pageOptions.checks, all: boolean })

/** Ids of waitpoints contain names, so a cursor encodes them. */
const longestOpenFirst: ListOrder = {
  compare: compareInTime,
  encode: ({ score, id = '' }) => `w1.${score.toString(36)}.${Buffer.from(id).toString('base64url')}`,
  decode: (cursor) => {
    const match = typeof cursor === 'string' ? /^w1\.([0-9a-z]+)\.([A-Za-z0-9_-]+)$/.exec(cursor) : null
    return { score: scoreIn(match?.[1]), id: Buffer.from(match?.[2] ?? '', 'base64url').toString() }
  },
}

/** Lists the open waitpoints of all partitions, longest open first. */
export async function listOpenWaitpoints(session: Session, options: ListWaitpointsOptions): Promise<WaitpointPage> {
  const range = pageOptions(options)
  const takeStep = async (partition: number, limit: number, from: Position | undefined) => {
    const input = { namespace: session.listed(undefined), limit: Math.min(limit, WAITPOINT_PAGE_MAX), cursor: from }
    const { result } = await session.runIn(executionPartition(partition), 'listOpenWaitpoints', input)
    return { items: result.waitpoints.map(placed), cursor: result.cursor }
  }
  const page = await mergePages(session.settings.executionPartitions, range, takeStep, longestOpenFirst)
  return { items: page.items.map(({ summary }) => summary), cursor: page.cursor }
}

/** Lists the waitpoints of one execution, by key. */
export async function listWaitpointsOf(
  session: Session,
  idOrKey: string,
  options: ExecutionWaitpointsOptions,
): Promise<WaitpointPage> {
  const { all = false, limit = LIMIT_DEFAULT, cursor: given } = executionOptions(options)
  const executionId = session.resolve(idOrKey)
  const items: WaitpointSummary[] = []
  let cursor = given === undefined ? undefined : longestOpenFirst.decode(given)
  do {
    const input = { executionId, all, limit: limit - items.length, cursor }
    const page = unwrap((await session.run(executionId, 'listWaitpoints', input)).result)
    items.push(...page.waitpoints.map(summariseWaitpoint))
    cursor = page.cursor
  } while (cursor !== undefined && items.length < limit)
  return { items, cursor: cursor === undefined ? undefined : longestOpenFirst.encode(cursor) }
}

function placed(listed: ListedWaitpoint): { createdAt: Instant; id: string; summary: WaitpointSummary } {
  const { createdAt, id } = listed.waitpoint
  return { createdAt, id, summary: summariseWaitpoint(listed) }
}

function summariseWaitpoint({
  waitpoint,
  task,
  state,
  expiresAt,
  step,
  names,
  from,
}: ListedWaitpoint): WaitpointSummary {
  return {
    executionId: waitpoint.executionId,
    task,
    key: waitpoint.target,
    state,
    openedAt: waitpoint.createdAt,
    expiresAt,
    step,
    names,
    from,
    signalCount: waitpoint.signalCount,
    bufferedCount: waitpoint.bufferedCount,
    lastSignalAt: waitpoint.lastSignalAt,
    closedAt: waitpoint.closedAt,
    closeReason: waitpoint.closeReason,
  }
}
