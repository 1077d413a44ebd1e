/** The limits of a store, and how full they are. */
import { EngineError } from '../../kernel/engine-error.ts'
import { LIMIT_PAGE_MAX, laneOfLimit } from '../../kernel/index.ts'
import type { Holder, Instant, KeyUsage, Limit, Position, Rate } from '../../kernel/index.ts'
import { shape, wholeNumber } from '../../options/shape.ts'
import { limitPartition, partitionsOf } from '../../stores/partitions.ts'
import { checkKey } from '../checks/names.ts'
import type { Session } from '../session.ts'
import { unwrap } from '../transport/unwrap.ts'

/** A limit as it is defined now. */
export interface LimitInfo {
  readonly name: string
  /** The weight that may start in any interval of the window's length, for each key. */
  readonly rate: Rate | undefined
  /** How many executions of one key may run at once. */
  readonly concurrency: number | undefined
  /** Rises with every change. */
  readonly version: number
  readonly createdAt: Instant
  readonly changedAt: Instant
  /** Who changed it last, and why. */
  readonly changedBy: string | undefined
  readonly reason: string | undefined
}

export interface LimitDescription extends LimitInfo {
  /** The keys that are in use: the busiest first, by powers of two. */
  readonly keys: readonly KeyUsage[]
  /** With the option `key`: the worker processes that hold its permits, 50 at most. */
  readonly holders: readonly Holder[]
  /** Where the next page of keys starts; undefined on the last. */
  readonly cursor: string | undefined
  /** The time of the store. */
  readonly at: Instant
}

export interface DescribeLimitOptions {
  /** Only this key, with the workers that hold permits of it. An empty text is the use without a key. */
  readonly key?: string
  /** At most this many keys; 200 unless given. */
  readonly limit?: number
  readonly cursor?: string
}

const describeOptions = shape<DescribeLimitOptions>()("{ key: 'acme' }", {
  key: (value, field) => (value === '' ? value : checkKey(value, field)),
  limit: wholeNumber(1, LIMIT_PAGE_MAX),
  cursor: decode,
})

/** Pages of limits that are read in each partition. */
const PAGES_MAX = 50

export async function listLimits(session: Session): Promise<LimitInfo[]> {
  const pages = partitionsOf(session.settings, ['q']).map(async (partition) => {
    const found: Limit[] = []
    let cursor: string | undefined
    for (let page = 0; page < PAGES_MAX; page++) {
      const { result } = await session.runIn(partition, 'listLimits', { limit: LIMIT_PAGE_MAX, cursor })
      // Those of lanes are shown with their lanes.
      found.push(...result.limits.filter(({ id }) => laneOfLimit(id) === undefined))
      cursor = result.cursor
      if (cursor === undefined) break
    }
    return found.map(summarise)
  })
  const limits = (await Promise.all(pages)).flat()
  return limits.sort((a, b) => (a.name < b.name ? -1 : 1))
}

export async function describeLimit(
  session: Session,
  name: string,
  options: DescribeLimitOptions,
): Promise<LimitDescription> {
  const { key, limit = LIMIT_PAGE_MAX, cursor } = describeOptions(options)
  const partition = limitPartition(name, session.settings)
  const { result } = await session.runIn(partition, 'describeLimit', { name, key, limit, cursor })
  const { limit: found, keys, holders, cursor: next, at } = unwrap(result)
  return { ...summarise(found), keys, holders, cursor: encode(next), at }
}

function summarise({
  id,
  rate,
  concurrency,
  version,
  createdAt,
  changedAt,
  changedBy,
  changeReason,
}: Limit): LimitInfo {
  return { name: id, rate, concurrency, version, createdAt, changedAt, changedBy, reason: changeReason }
}

const CURSOR_FORM = /^g1\.(\d{1,2})\.([A-Za-z0-9_-]+)$/

/** Scores are zero or negative. */
function encode(position: Position | undefined): string | undefined {
  if (position?.id === undefined) return undefined
  return `g1.${-position.score}.${Buffer.from(position.id).toString('base64url')}`
}

function decode(cursor: unknown): Position {
  const match = typeof cursor === 'string' ? CURSOR_FORM.exec(cursor) : null
  if (match === null) throw new EngineError('invalid_cursor', { field: 'cursor' })
  return { score: 0 - Number(match[1]), id: Buffer.from(match[2] ?? '', 'base64url').toString() }
}
