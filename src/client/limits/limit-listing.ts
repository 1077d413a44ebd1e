/** The limits of a store, and how full they are. */
import { LIMIT_PAGE_MAX, laneOfLimit, parseStoredKey, storedKey } from '../../kernel/index.ts'
import type { Holder, Instant, KeyUsage, Limit, Rate } from '../../kernel/index.ts'
import { shape, wholeNumber } from '../../options/shape.ts'
import { ADMISSION_LEVEL } from '../../stores/level/store-level.ts'
import { limitPartition, partitionsOf } from '../../stores/partitions.ts'
import { checkKey, checkNamespace } from '../checks/names.ts'
import type { Session } from '../session.ts'
import { cursorOf, positionCursor } from '../transport/id-cursor.ts'
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

/** A key that is in use. */
export interface LimitKeyUsage extends KeyUsage {
  readonly namespace: string
}

export interface LimitDescription extends LimitInfo {
  /** The keys that are in use: the busiest first, by powers of two. */
  readonly keys: readonly LimitKeyUsage[]
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
  /** The namespace of the key; that of the fabric unless given. */
  readonly namespace?: string
  /** At most this many keys; 200 unless given. */
  readonly limit?: number
  readonly cursor?: string
}

const byUse = positionCursor('g1')

const describeOptions = shape<DescribeLimitOptions>()("{ key: 'acme' }", {
  key: (value, field) => (value === '' ? value : checkKey(value, field)),
  namespace: checkNamespace,
  limit: wholeNumber(1, LIMIT_PAGE_MAX),
  cursor: byUse.decode,
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
  const { key: given, namespace, limit = LIMIT_PAGE_MAX, cursor } = describeOptions(options)
  const key = given === undefined ? undefined : keyIn(session, given, namespace)
  const partition = limitPartition(name, session.settings)
  const { result } = await session.runIn(partition, 'describeLimit', { name, key, limit, cursor })
  const { limit: found, keys, holders, cursor: next, at } = unwrap(result)
  const named = keys.map((usage) => ({ ...usage, ...parseStoredKey(usage.key) }))
  return { ...summarise(found), keys: named, holders, cursor: cursorOf(byUse, next), at }
}

/** Limits whose use is read together, and the busiest keys of each. */
const SUMMARY_MAX = 100
const SUMMARY_KEYS_MAX = 50

/** How full a limit is, by its 50 busiest keys. */
export interface LimitUse {
  readonly name: string
  /** The most permits of one key. */
  readonly concurrency: number | undefined
  /** The weight of one key that may start in the window. */
  readonly rate: number | undefined
  /** Permits that are held, of all these keys. */
  readonly held: number
  /** The weight in the window, of all these keys. */
  readonly used: number
  /** What the fullest of these keys still grants: none while it is held back. Absent if the limit has no terms. */
  readonly room: number | undefined
  /** Keys that work waits for. */
  readonly waitingKeys: number
}

/** Returns the use of the first 100 limits, for metrics: keys may be many. None on a store of a lower level. */
export async function readUses(session: Session): Promise<LimitUse[]> {
  if (session.batcher.store.level < ADMISSION_LEVEL) return []
  const limits = (await listLimits(session)).slice(0, SUMMARY_MAX)
  const uses = limits.map(async ({ name, concurrency, rate }): Promise<LimitUse[]> => {
    const input = { name, limit: SUMMARY_KEYS_MAX }
    const { result } = await session.runIn(limitPartition(name, session.settings), 'describeLimit', input)
    // It was deleted meanwhile.
    if (result.kind === 'refused') return []
    const { keys } = result
    const terms = [concurrency, rate?.count].filter((term) => term !== undefined)
    const rooms = keys.map(({ next }) => (next?.afterMs === 0 ? next.permits : 0))
    return [
      {
        name,
        concurrency,
        rate: rate?.count,
        held: keys.reduce((sum, { held }) => sum + held, 0),
        used: keys.reduce((sum, { used }) => sum + used, 0),
        room: terms.length === 0 ? undefined : Math.min(...terms, ...rooms),
        waitingKeys: keys.filter(({ waitingPartitions }) => waitingPartitions > 0).length,
      },
    ]
  })
  return (await Promise.all(uses)).flat()
}

/** Returns a key of a namespace, that of the session unless given, as the store has it. */
export function keyIn(session: Session, key: string, wanted: string | undefined): string {
  return storedKey({ namespace: session.listed(wanted) ?? session.namespace, key })
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
