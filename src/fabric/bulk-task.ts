/** The task of bulk changes: one execution walks over what its filter finds, a page in each durable step. */
import { FABRIC_PREFIX, task } from '../client/index.ts'
import type { Client } from '../client/client.ts'
import type { ExecutionSummary, Handler } from '../client/index.ts'
import type { ListQuery } from '../client/lists/listing.ts'
import { messageShape } from '../client/lists/failure-groups.ts'
import { EngineError } from '../kernel/engine-error.ts'

export type BulkAction =
  | { readonly kind: 'cancel'; readonly reason: string }
  | { readonly kind: 'replay' }
  | { readonly kind: 'delete' }
  | { readonly kind: 'priority'; readonly priority: number }
  | { readonly kind: 'tags'; readonly tags: Readonly<Record<string, string>> }

export interface BulkOrder {
  readonly action: BulkAction
  readonly filter: Omit<ListQuery, 'parent' | 'namespace'>
  /** Only failures whose message has this shape. */
  readonly message: string | undefined
  readonly perSecond: number
}

export interface BulkOutcome {
  readonly examined: number
  readonly changed: number
  /** Executions that the change did not fit, by the code of the refusal. */
  readonly refused: Readonly<Record<string, number>>
  /** Whether the walk ended at its bound. For the rest, call it again with a filter that excludes what was examined. */
  readonly isCut: boolean
}

/** What one page has done, as its step records it. */
interface BulkPage extends Omit<BulkOutcome, 'isCut'> {
  readonly cursor: string | undefined
}

const BULK_LANE = 'flowfabric.bulk'
export const BULK_RATE_MAX = 10_000
/** Executions of a page, which one step changes. */
const PAGE_COUNT = 200
/** Pages of one bulk change. */
const PAGE_MAX = 5_000
/** Calls of a page at once. */
const AT_ONCE = 25

export const bulkTask = task<BulkOrder, BulkOutcome>('flowfabric.bulk', {
  lane: BULK_LANE,
  retry: { attempts: 20, backoff: 'exponential' },
  retention: '7d',
})

export function bulkHandler(client: Client): Handler {
  return bulkTask.handle(async ({ action, filter, message, perSecond }, ctx) => {
    // What ends later, also because of a replay of this change, is left alone.
    const { createdAt: startedAt } = await client.describe(ctx.executionId)
    const isOfEnded = action.kind === 'replay' || action.kind === 'delete'
    const bounds = isOfEnded ? { endedTo: Math.min(filter.endedTo ?? startedAt, startedAt) } : {}
    const createdTo = Math.min(filter.createdTo ?? startedAt, startedAt)
    const count = Math.min(PAGE_COUNT, perSecond)
    const total = { examined: 0, changed: 0, refused: {} as Record<string, number> }
    let cursor: string | undefined
    for (let number = 0; number < PAGE_MAX; number++) {
      const from = cursor
      const beganAt = client.runtime.monotonic()
      const run = { isNew: false }
      const page = await ctx.step(`page-${number}`, { retry: { attempts: 1, shouldRetry: isTransient } }, async () => {
        run.isNew = true
        const query = { ...filter, ...bounds, createdTo, namespace: ctx.namespace, limit: count, cursor: from }
        return await changePage(client, action, await client.list(query), message)
      })
      total.examined += page.examined
      total.changed += page.changed
      for (const [code, refused] of Object.entries(page.refused))
        total.refused[code] = (total.refused[code] ?? 0) + refused
      cursor = page.cursor
      if (cursor === undefined) return { ...total, isCut: false }
      if (!run.isNew) continue
      await ctx.progress(0, `${total.changed} changed, ${total.examined} examined`)
      const leftMs = (page.changed / perSecond) * 1_000 - (client.runtime.monotonic() - beganAt)
      await pause(client, leftMs, ctx.signal)
    }
    return { ...total, isCut: true }
  })
}

/** Whether a page may succeed when it runs again. A flow that does not exist is found by no retry. */
function isTransient(error: unknown): boolean {
  return !(error instanceof EngineError) || error.isRetryable
}

/**
 * Whether a failure has the wanted shape, if one is wanted. Executions of FlowFabric, such as bulk changes and deliveries of webhooks, are
 * never wanted: their own commands change them.
 */
export function isWanted({ task: name, failure }: ExecutionSummary, message: string | undefined): boolean {
  if (name.startsWith(FABRIC_PREFIX)) return false
  return message === undefined || (failure !== undefined && messageShape(failure.message) === message)
}

async function changePage(
  client: Client,
  action: BulkAction,
  { items, cursor }: { readonly items: readonly ExecutionSummary[]; readonly cursor: string | undefined },
  message: string | undefined,
): Promise<BulkPage> {
  const wanted = items.filter((item) => isWanted(item, message))
  const refused: Record<string, number> = {}
  let changed = 0
  for (let i = 0; i < wanted.length; i += AT_ONCE) {
    const codes = await Promise.all(wanted.slice(i, i + AT_ONCE).map(({ id }) => change(client, action, id)))
    for (const code of codes) {
      if (code === undefined) changed += 1
      else refused[code] = (refused[code] ?? 0) + 1
    }
  }
  return { examined: items.length, changed, refused, cursor }
}

/** Returns the code of a refusal. A failure of the store fails the step, which runs again. */
async function change(client: Client, action: BulkAction, id: string): Promise<string | undefined> {
  const result = await resultOf(client, action, id)
  return result.kind === 'refused' ? result.code : undefined
}

function resultOf(client: Client, action: BulkAction, id: string) {
  switch (action.kind) {
    case 'cancel':
      return client.try.cancel(id, action.reason, { by: 'bulk' })
    case 'replay':
      return client.try.replay(id, { by: 'bulk' })
    case 'delete':
      return client.try.deleteExecution(id, 'bulk')
    case 'priority':
      return client.try.changePriority(id, action.priority)
    case 'tags':
      return client.try.setTags(id, action.tags)
  }
}

async function pause(client: Client, ms: number, signal: AbortSignal): Promise<void> {
  if (ms <= 0) return
  const over = Promise.withResolvers<undefined>()
  const end = () => over.resolve(undefined)
  const timer = client.runtime.after(ms, end)
  signal.addEventListener('abort', end, { once: true })
  await over.promise
  signal.removeEventListener('abort', end)
  timer.cancel()
}
