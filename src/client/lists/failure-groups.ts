/** Groups failed executions that have the same cause: by task, category, and message without its numbers. */
import { wholeNumber, shape } from '../../options/shape.ts'
import type { ExecutionSummary } from '../executions/description.ts'
import type { ExecutionPage, ListOptions, ListQuery } from './listing.ts'

/** Failures whose messages differ only in numbers and ids. */
export interface FailureGroup {
  readonly task: string
  readonly category: string
  /** The message with `#` for each number and each id. */
  readonly message: string
  readonly count: number
  /** When the first and the last of them ended. */
  readonly firstAt: number | undefined
  readonly lastAt: number | undefined
  /** The newest ones, five at most. */
  readonly examples: readonly string[]
}

export interface FailureGroups {
  /** The largest first. */
  readonly groups: readonly FailureGroup[]
  /** Failed executions that were examined. */
  readonly examined: number
  /** Older ones were not examined. */
  readonly isCut: boolean
}

export interface FailuresOptions extends Omit<ListQuery, 'state'> {
  /** At most so many failed executions are examined, the newest first; 2,000 unless given. */
  readonly examine?: number
}

const EXAMINE_DEFAULT = 2_000
const EXAMINE_MAX = 20_000
const PAGE_COUNT = 200
/** Pages that are read. With a filter that excludes most, they contain few executions. */
const PAGES_MAX = 500
const EXAMPLE_MAX = 5
/** Characters of a message that are compared. */
const SHAPE_MAX = 200

const examineOption = shape<Pick<FailuresOptions, 'examine'>>()('{ examine: 500 }', {
  examine: wholeNumber(1, EXAMINE_MAX),
})

/** Returns a message with `#` for each id and each number, cut to the length that is compared. */
export function messageShape(message: string): string {
  const firstLine = message.split('\n', 1)[0] ?? ''
  return firstLine
    .replace(/\b[0-9a-f]{8}-[0-9a-f-]{27}\b/gi, '#')
    .replace(/\b0x[0-9a-f]+\b/gi, '#')
    .replace(/\d+(?:[.,:]\d+)*/g, '#')
    .slice(0, SHAPE_MAX)
}

export async function failureGroups(
  list: (options: ListOptions) => Promise<ExecutionPage>,
  { examine, ...query }: FailuresOptions,
): Promise<FailureGroups> {
  const { examine: most = EXAMINE_DEFAULT } = examineOption(examine === undefined ? {} : { examine })
  const groups = new Map<string, { -readonly [K in keyof FailureGroup]: FailureGroup[K] }>()
  let examined = 0
  let cursor: string | undefined
  let pageCount = 0
  do {
    const limit = Math.min(PAGE_COUNT, most - examined)
    const page = await list({ ...query, state: 'failed', limit, cursor })
    for (const item of page.items) add(groups, item)
    examined += page.items.length
    cursor = page.cursor
    pageCount += 1
  } while (cursor !== undefined && examined < most && pageCount < PAGES_MAX)
  const sorted = [...groups.values()].sort((a, b) => b.count - a.count)
  return { groups: sorted, examined, isCut: cursor !== undefined }
}

function add(
  groups: Map<string, { -readonly [K in keyof FailureGroup]: FailureGroup[K] }>,
  { id, key, task, failure, endedAt }: ExecutionSummary,
): void {
  const category = failure?.category ?? ''
  const message = messageShape(failure?.message ?? '')
  const place = JSON.stringify([task, category, message])
  const group = groups.get(place) ?? {
    task,
    category,
    message,
    count: 0,
    firstAt: endedAt,
    lastAt: endedAt,
    examples: [],
  }
  groups.set(place, group)
  group.count += 1
  if (endedAt !== undefined) {
    group.firstAt = Math.min(group.firstAt ?? endedAt, endedAt)
    group.lastAt = Math.max(group.lastAt ?? endedAt, endedAt)
  }
  if (group.examples.length < EXAMPLE_MAX) group.examples = [...group.examples, key ?? id]
}
