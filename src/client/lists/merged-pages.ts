/** Merges the pages of all partitions into one ordered page, from bounded steps in each partition. */
import { LIST_PAGE_MAX, compareKeyed } from '../../kernel/index.ts'
import type { Position } from '../../kernel/index.ts'
import { EngineError } from '../../kernel/engine-error.ts'
import { shape, unchecked, wholeNumber } from '../../options/shape.ts'

export interface PageOptions {
  /** At most this many; 50 unless given. */
  readonly limit?: number | undefined
  readonly cursor?: string | undefined
}

export const pageOptions = shape<PageOptions>()('{ limit: 20 }', {
  limit: wholeNumber(1, LIST_PAGE_MAX),
  cursor: unchecked<string>(),
})

export interface Page<T> {
  readonly items: readonly T[]
  /** Where the next page starts. A short page may have one too. */
  readonly cursor: string | undefined
}

/** A listed item has a position in the order of the list. */
interface Placed {
  readonly createdAt: number
  readonly id: string
}

/** The items that a partition found, and where its next step starts. */
export interface Step<T> {
  readonly items: readonly T[]
  readonly cursor: Position | undefined
}

type TakeStep<T> = (partition: number, limit: number, from: Position | undefined) => Promise<Step<T>>

/** The order of a list, and how a position is written in a cursor. */
export interface ListOrder {
  readonly compare: (a: Position, b: Position) => number
  readonly encode: (position: Position) => string
  readonly decode: (cursor: string) => Position
}

export const LIMIT_DEFAULT = 50
/** Steps per partition before a call returns a short page. */
export const STEPS_MAX = 25

export async function mergePages<T extends Placed>(
  partitionCount: number,
  { limit = LIMIT_DEFAULT, cursor }: PageOptions,
  takeStep: TakeStep<T>,
  order: ListOrder = newestFirst,
): Promise<Page<T>> {
  const from = cursor === undefined ? undefined : order.decode(cursor)
  const pages = await Promise.all(
    Array.from({ length: partitionCount }, (_, partition) => pageOf(partition, limit, from, takeStep)),
  )
  // Where a partition stopped early, items of the others after that point are not shown yet.
  const horizon = pages
    .map((page) => page.cursor)
    .filter((next) => next !== undefined)
    .sort(order.compare)[0]
  const merged = pages
    .flatMap((page) => page.items)
    .filter((item) => horizon === undefined || order.compare(positionOf(item), horizon) <= 0)
    .sort((a, b) => order.compare(positionOf(a), positionOf(b)))
  const items = merged.slice(0, limit)
  const last = items.at(-1)
  const end = merged.length > limit && last !== undefined ? positionOf(last) : horizon
  return { items, cursor: end === undefined ? undefined : order.encode(end) }
}

async function pageOf<T>(
  partition: number,
  limit: number,
  from: Position | undefined,
  takeStep: TakeStep<T>,
): Promise<Step<T>> {
  const items: T[] = []
  let cursor = from
  for (let step = 0; step < STEPS_MAX; step++) {
    const found = await takeStep(partition, limit - items.length, cursor)
    items.push(...found.items)
    cursor = found.cursor
    if (cursor === undefined || items.length >= limit) break
  }
  return { items, cursor }
}

function positionOf(item: Placed): Position {
  return { score: item.createdAt, id: item.id }
}

/** By time and, within one millisecond, by id: earlier first. */
export function compareInTime(a: Position, b: Position): number {
  return compareKeyed({ score: a.score, id: a.id ?? '' }, { score: b.score, id: b.id ?? '' })
}

/** Executions and flows, whose ids are plain. */
const newestFirst: ListOrder = {
  compare: (a, b) => compareInTime(b, a),
  encode: ({ score, id }) => `l1.${score.toString(36)}.${id ?? ''}`,
  decode: (cursor) => {
    const match = typeof cursor === 'string' ? /^l1\.([0-9a-z]+)\.([0-9a-f-]+)$/.exec(cursor) : null
    return { score: scoreIn(match?.[1]), id: match?.[2] }
  },
}

/** Reads the time in a cursor. A number that no store can compare is from no store. */
export function scoreIn(text: string | undefined): number {
  const score = text === undefined ? Number.NaN : parseInt(text, 36)
  if (Number.isSafeInteger(score)) return score
  throw new EngineError('invalid_cursor', { field: 'cursor' })
}
