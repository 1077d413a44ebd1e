/** One page over all partitions, newest first, put together from the short steps that a partition answers. */
import { LIST_PAGE_MAX } from '../kernel/index.ts'
import type { Position } from '../kernel/index.ts'
import { EngineError } from '../stores/engine-error.ts'
import { invalidInput, show } from './names.ts'

export interface PageOptions {
  /** At most this many; 50 unless given. */
  readonly limit?: number | undefined
  readonly cursor?: string | undefined
}

export interface Page<T> {
  readonly items: readonly T[]
  /** Where to go on. A page may be short and still have one. */
  readonly cursor: string | undefined
}

/** What is listed has a place in the order of the list. */
interface Placed {
  readonly createdAt: number
  readonly id: string
}

/** What a partition found from a position on, and where its next step begins. */
export interface Step<T> {
  readonly items: readonly T[]
  readonly cursor: Position | undefined
}

type TakeStep<T> = (partition: number, limit: number, from: Position | undefined) => Promise<Step<T>>

const LIMIT_DEFAULT = 50
/** Steps that one call takes in one partition before it answers with a short page. */
const STEPS_MAX = 25

export async function mergePages<T extends Placed>(
  partitionCount: number,
  { limit = LIMIT_DEFAULT, cursor }: PageOptions,
  takeStep: TakeStep<T>,
): Promise<Page<T>> {
  if (!Number.isInteger(limit) || limit < 1 || limit > LIST_PAGE_MAX) {
    throw invalidInput('limit', `limit is ${show(limit)}, but must be a whole number from 1 to ${LIST_PAGE_MAX}.`)
  }
  const from = cursor === undefined ? undefined : decodePosition(cursor)
  const pages = await Promise.all(
    Array.from({ length: partitionCount }, (_, partition) => pageOf(partition, limit, from, takeStep)),
  )
  // Where a partition stopped short, nothing older than that point may be shown from the others yet.
  const horizon = pages
    .map((page) => page.cursor)
    .filter((next) => next !== undefined)
    .reduce<Position | undefined>(newest, undefined)
  const merged = pages
    .flatMap((page) => page.items)
    .filter((item) => horizon === undefined || compare(positionOf(item), horizon) >= 0)
    .sort((a, b) => compare(positionOf(b), positionOf(a)))
  const items = merged.slice(0, limit)
  const last = items.at(-1)
  const end = merged.length > limit && last !== undefined ? positionOf(last) : horizon
  return { items, cursor: end === undefined ? undefined : encodePosition(end) }
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

function compare(a: Position, b: Position): number {
  return a.score - b.score || ((a.id ?? '') < (b.id ?? '') ? -1 : (a.id ?? '') > (b.id ?? '') ? 1 : 0)
}

function newest(a: Position | undefined, b: Position): Position {
  return a === undefined || compare(a, b) < 0 ? b : a
}

function encodePosition(position: Position): string {
  return `l1.${position.score.toString(36)}.${position.id ?? ''}`
}

function decodePosition(cursor: string): Position {
  const match = /^l1\.([0-9a-z]+)\.([0-9a-f-]+)$/.exec(cursor)
  if (match === null) throw new EngineError('invalid_cursor', { field: 'cursor' })
  return { score: parseInt(match[1] ?? '', 36), id: match[2] }
}
