/** Sums the ledger of a budget by task, by day, and by the other budgets in which its lines count, such as those of tenants or models. */
import { BUDGET_PAGE_MAX } from '../../kernel/index.ts'
import type { Charge, Instant, Position } from '../../kernel/index.ts'
import { limitPartition } from '../../stores/partitions.ts'
import type { Spending } from '../define/budget.ts'
import type { Session } from '../session.ts'
import { spendingOf } from '../define/budget.ts'
import { describeBudget } from './budget-listing.ts'

export interface CostsOptions {
  /** Only this key, such as a tenant. All keys unless given, the first 100 by name. */
  readonly key?: string
  /** The first and the last instant of the lines. */
  readonly from?: number
  readonly to?: number
  /** At most so many lines are examined, the latest first; 2,000 unless given. */
  readonly examine?: number
}

interface Sum {
  /** Lines of the ledger. */
  readonly count: number
  readonly spent: Spending
}

export interface Costs {
  readonly total: Sum
  /** The most lines first, as in the other lists. */
  readonly tasks: readonly (Sum & { readonly namespace: string; readonly task: string })[]
  /** Days of UTC, the latest first, each as its first instant. */
  readonly days: readonly (Sum & { readonly day: Instant })[]
  /** By every budget in which the lines count, and its key. */
  readonly budgets: readonly (Sum & { readonly budget: string; readonly key: string })[]
  /** Lines that were examined. */
  readonly examined: number
  /** All lines since then are counted. Absent if older lines within the range were not left out. */
  readonly completeSince: Instant | undefined
  /** Some entries of a list, or some keys, were left out. */
  readonly isCut: boolean
}

export const COSTS_EXAMINE_DEFAULT = 2_000
export const COSTS_EXAMINE_MAX = 20_000
/** Entries of each list. */
const ENTRIES_MAX = 100
const DAY_MS = 86_400_000
const SMALLEST_PAGE = 10

type Terms = Required<Pick<CostsOptions, 'examine'>> & Omit<CostsOptions, 'examine'>

/** The ledger of one key, of which a part was read. */
interface Source {
  readonly key: string
  lines: readonly Charge[]
  next: Position | undefined
  isWhole: boolean
}

export async function budgetCosts(
  session: Session,
  place: { readonly root: string; readonly name: string },
  terms: Terms,
): Promise<Costs> {
  const { keys, hasMore } = await keysOf(session, place, terms)
  const sums = new Sums()
  const latest = new LatestFirst(session, place, keys, terms)
  let examined = 0
  let completeSince: Instant | undefined
  for (;;) {
    const line = await latest.next()
    if (line === undefined || (terms.from !== undefined && line.at < terms.from)) break
    if (examined === terms.examine) {
      completeSince = line.at + 1
      break
    }
    examined += 1
    sums.add(line)
  }
  return sums.costs(examined, completeSince, hasMore)
}

async function keysOf(session: Session, place: { readonly root: string; readonly name: string }, { key }: Terms) {
  // A budget without a use has no keys, and a name without a budget is refused.
  const described = await describeBudget(session, place, key === undefined ? {} : { key, limit: 1 })
  if (key !== undefined) return { keys: [key], hasMore: false }
  return { keys: described.keys.map((one) => one.key), hasMore: described.cursor !== undefined }
}

/** The lines of several ledgers, the latest first. */
class LatestFirst {
  readonly #session: Session
  readonly #place: { readonly root: string; readonly name: string }
  readonly #sources: readonly Source[]
  readonly #limit: number

  constructor(
    session: Session,
    place: { readonly root: string; readonly name: string },
    keys: readonly string[],
    { to, examine }: Terms,
  ) {
    this.#session = session
    this.#place = place
    // A position before all lines of the next instant: the ledger is read towards the past.
    const start = to === undefined ? undefined : { score: to + 1, id: '' }
    this.#sources = keys.map((key) => ({ key, lines: [], next: start, isWhole: false }))
    const fair = Math.ceil(examine / Math.max(1, keys.length))
    this.#limit = Math.min(BUDGET_PAGE_MAX, Math.max(SMALLEST_PAGE, fair))
  }

  async next(): Promise<Charge | undefined> {
    await Promise.all(
      this.#sources.flatMap((source) => (source.lines.length === 0 && !source.isWhole ? [this.#read(source)] : [])),
    )
    let best: Source | undefined
    for (const source of this.#sources) {
      const at = source.lines[0]?.at
      if (at !== undefined && (best?.lines[0] === undefined || at > best.lines[0].at)) best = source
    }
    const [line, ...rest] = best?.lines ?? []
    if (best !== undefined) best.lines = rest
    return line
  }

  async #read(source: Source): Promise<void> {
    const { root } = this.#place
    const account = { ...this.#place, key: source.key }
    const input = { account, limit: this.#limit, cursor: source.next }
    const { result } = await this.#session.runIn(limitPartition(root, this.#session.settings), 'readCharges', input)
    source.lines = result.charges
    source.next = result.cursor
    source.isWhole = result.cursor === undefined
  }
}

class Sums {
  readonly #total = new Total()
  readonly #tasks = new Map<string, Total>()
  readonly #days = new Map<string, Total>()
  readonly #budgets = new Map<string, Total>()

  add(line: Charge): void {
    const { spender, accounts, at } = line
    this.#total.add(line)
    totalIn(this.#tasks, [spender.namespace, spender.task]).add(line)
    totalIn(this.#days, [Math.floor(at / DAY_MS) * DAY_MS]).add(line)
    for (const { name, key } of accounts) totalIn(this.#budgets, [name, key]).add(line)
  }

  costs(examined: number, completeSince: Instant | undefined, hasMoreKeys: boolean): Costs {
    const lists = [this.#tasks, this.#days, this.#budgets]
    const byCount = (a: Sum, b: Sum) => b.count - a.count
    return {
      total: this.#total.sum(),
      tasks: entriesOf<[string, string]>(this.#tasks)
        .map(([[namespace, task], sum]) => ({ namespace, task, ...sum }))
        .sort(byCount)
        .slice(0, ENTRIES_MAX),
      days: entriesOf<[number]>(this.#days)
        .map(([[day], sum]) => ({ day, ...sum }))
        .sort((a, b) => b.day - a.day)
        .slice(0, ENTRIES_MAX),
      budgets: entriesOf<[string, string]>(this.#budgets)
        .map(([[budget, key], sum]) => ({ budget, key, ...sum }))
        .sort(byCount)
        .slice(0, ENTRIES_MAX),
      examined,
      completeSince,
      isCut: hasMoreKeys || lists.some(({ size }) => size > ENTRIES_MAX),
    }
  }
}

class Total {
  #count = 0
  readonly #spent = new Map<string, number>()

  add({ amounts }: Charge): void {
    this.#count += 1
    for (const { dimension, value } of amounts) this.#spent.set(dimension, (this.#spent.get(dimension) ?? 0) + value)
  }

  sum(): Sum {
    const spent = [...this.#spent].map(([dimension, value]) => ({ dimension, value }))
    return { count: this.#count, spent: spendingOf(spent) }
  }
}

function totalIn(totals: Map<string, Total>, parts: readonly (string | number)[]): Total {
  const key = JSON.stringify(parts)
  const known = totals.get(key) ?? new Total()
  totals.set(key, known)
  return known
}

function entriesOf<Parts>(totals: ReadonlyMap<string, Total>): (readonly [Parts, Sum])[] {
  return [...totals].map(([key, total]) => [JSON.parse(key) as Parts, total.sum()])
}
