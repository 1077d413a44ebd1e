/**
 * Changes many executions by a filter: looks first at how many they are, then runs as an execution of its own, page by page. It
 * reports progress, continues after a crash with the page that was not recorded, and keeps to a rate.
 */
import { checkKey, checkPriority, checkReason, checkTags, invalidInput } from '../client/checks/names.ts'
import type { Client } from '../client/client.ts'
import type { ExecutionHandle, ExecutionSummary } from '../client/index.ts'
import { checkListQuery } from '../client/lists/listing.ts'
import type { ListQuery } from '../client/lists/listing.ts'
import { required, shape, unchecked, wholeNumber } from '../options/shape.ts'
import { BULK_RATE_MAX, bulkTask, isWanted } from './bulk-task.ts'
import type { BulkAction, BulkOrder, BulkOutcome } from './bulk-task.ts'

/** Which executions to change. They are those of the namespace of the fabric. */
export interface BulkFilter extends Omit<ListQuery, 'parent' | 'namespace'> {
  /** Only failures whose message has this shape, as `fabric.failures()` returns it. */
  readonly message?: string
}

export interface BulkOptions {
  /** Your own id of the change: a second call with it joins the first. */
  readonly id?: string
  /** Executions that are changed in a second at most; 100 unless given. */
  readonly perSecond?: number
}

export interface BulkPreview {
  /** How many executions would be changed now. */
  readonly count: number
  /** Whether there are more than were counted. */
  readonly isMore: boolean
  /** The newest ones. */
  readonly examples: readonly ExecutionSummary[]
}

const PREVIEW_PAGE = 200
const PREVIEW_MAX = 10_000
/** Pages that a preview reads. With a filter that excludes most, they contain few executions. */
const PREVIEW_PAGES_MAX = 500
const EXAMPLE_COUNT = 10

const bulkOptions = shape<BulkOptions>()("{ perSecond: 20, id: 'cleanup:1' }", {
  id: checkKey,
  perSecond: wholeNumber(1, BULK_RATE_MAX),
})
const priorityOption = shape<{ readonly priority: number }>()('{ priority: 5 }', { priority: required(checkPriority) })

export class Bulk {
  readonly #client: Client
  readonly #filter: BulkFilter
  readonly #ensureWorker: () => void

  /** `ensureWorker` starts a worker for bulk changes in this process, unless it runs. */
  constructor(client: Client, filter: BulkFilter, ensureWorker: () => void) {
    this.#client = client
    this.#filter = checkFilter(filter)
    this.#ensureWorker = ensureWorker
  }

  /** Counts the executions, and returns the newest ones. Changes nothing. */
  async preview(): Promise<BulkPreview> {
    const { message, ...query } = this.#filter
    const { namespace } = this.#client
    const examples: ExecutionSummary[] = []
    let count = 0
    let cursor: string | undefined
    let pageCount = 0
    do {
      const page = await this.#client.list({ ...query, namespace, limit: PREVIEW_PAGE, cursor })
      const found = page.items.filter((item) => isWanted(item, message))
      count += found.length
      examples.push(...found.slice(0, EXAMPLE_COUNT - examples.length))
      cursor = page.cursor
      pageCount += 1
    } while (cursor !== undefined && count < PREVIEW_MAX && pageCount < PREVIEW_PAGES_MAX)
    return { count, isMore: cursor !== undefined, examples }
  }

  /** Cancels them. Those that run are asked to stop. */
  async cancel(reason: string, options: BulkOptions = {}): Promise<ExecutionHandle<BulkOutcome>> {
    return await this.#start({ kind: 'cancel', reason: checkReason(reason, 'reason') }, options)
  }

  /** Runs those again that ended before the call. */
  async replay(options: BulkOptions = {}): Promise<ExecutionHandle<BulkOutcome>> {
    return await this.#start({ kind: 'replay' }, options)
  }

  /** Removes those that ended before the call, before their retention is over. Members of flows are left alone. */
  async delete(options: BulkOptions = {}): Promise<ExecutionHandle<BulkOutcome>> {
    return await this.#start({ kind: 'delete' }, options)
  }

  async changePriority(priority: number, options: BulkOptions = {}): Promise<ExecutionHandle<BulkOutcome>> {
    return await this.#start({ kind: 'priority', ...priorityOption({ priority }) }, options)
  }

  /** Adds tags and replaces those of the same name. */
  async setTags(
    tags: Readonly<Record<string, string>>,
    options: BulkOptions = {},
  ): Promise<ExecutionHandle<BulkOutcome>> {
    checkTags(tags, [])
    return await this.#start({ kind: 'tags', tags }, options)
  }

  async #start(action: BulkAction, options: BulkOptions): Promise<ExecutionHandle<BulkOutcome>> {
    const { id, perSecond = 100 } = bulkOptions(options)
    const { message, ...filter } = this.#filter
    const order: BulkOrder = { action, filter, message, perSecond }
    const handle = await this.#client.submit(bulkTask, order, id === undefined ? {} : { id })
    this.#ensureWorker()
    return handle
  }
}

function checkFilter(filter: BulkFilter): BulkFilter {
  const given = filterShape(filter)
  const { message: _, ...query } = filter
  checkListQuery(query)
  if (Object.values(given).some((value) => value !== undefined)) return filter
  throw invalidInput('filter', 'The filter is empty, but must name at least one attribute, such as a state or a task.')
}

/** The listing checks the values. */
const filterShape = shape<BulkFilter>()("{ state: 'failed', task: 'charge' }", {
  lane: unchecked(),
  task: unchecked(),
  state: unchecked(),
  tag: unchecked(),
  schedule: unchecked(),
  flow: unchecked(),
  keyPrefix: unchecked(),
  error: unchecked(),
  createdFrom: unchecked(),
  createdTo: unchecked(),
  endedFrom: unchecked(),
  endedTo: unchecked(),
  message: unchecked(),
})
