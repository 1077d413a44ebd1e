/** Plays a scene once for each order in which the calls of its programs may reach their store. */
import { seededRandom } from '../../../runtime/seeded-random.fixture.ts'
import type { Commit, CommitReply, LoadReply, LoadRequest } from '../commit/backend.ts'
import { Process } from './process.fixture.ts'

/** Orders that are tried at most; the scenes here have fewer. */
const ORDERS_MAX = 3_000
/** How often chance stays with one program, so that it comes far while the others wait. */
const STAY_PART = 0.7
const SEED_STEP = 7_919_317
/** Turns after which programs that still wait for each other never end. */
const TURNS_MAX = 500

interface Waiting {
  readonly go: () => void
  /** Whether it can do nothing before another program has done something. */
  isIdle: boolean
}

/** Which of several programs runs next, when so many choices were made before. */
type Choose = (choiceCount: number, of: number) => number

/** One schedule: which of the runnable programs runs next. */
export class Order {
  /** How the choices were made, and between how many. */
  readonly taken: { readonly choice: number; readonly of: number }[] = []
  readonly #choose: Choose
  #waiting: Waiting[] = []
  #runningCount = 0
  #turnCount = 0

  constructor(choose: Choose) {
    this.#choose = choose
  }

  /** Runs programs to their ends, one step of one of them at a time. */
  async play(...programs: (() => unknown)[]): Promise<void> {
    this.#runningCount = programs.length
    const played = programs.map(async (program) => {
      await this.turn()
      try {
        await program()
      } finally {
        this.#stand()
      }
    })
    await Promise.all(played)
  }

  /** Waits until it is this program's turn. */
  async turn(isIdle = false): Promise<void> {
    await new Promise<void>((go) => {
      this.#waiting.push({ go, isIdle })
      this.#stand()
    })
  }

  #stand(): void {
    this.#runningCount -= 1
    if (this.#runningCount > 0 || this.#waiting.length === 0) return
    if (++this.#turnCount > TURNS_MAX) throw new Error('The programs wait for each other.')
    const busy = this.#waiting.filter(({ isIdle }) => !isIdle)
    const next = this.#next(busy.length > 0 ? busy : this.#waiting)
    this.#waiting = this.#waiting.filter((waiting) => waiting !== next)
    if (!next.isIdle) for (const waiting of this.#waiting) waiting.isIdle = false
    this.#runningCount = 1
    next.go()
  }

  #next(from: readonly Waiting[]): Waiting {
    const choice = from.length === 1 ? 0 : this.#choose(this.taken.length, from.length)
    if (from.length > 1) this.taken.push({ choice, of: from.length })
    return from[choice] as Waiting
  }
}

/** Returns what was found wrong in any order, each finding once, and how many orders there were. */
export async function inEveryOrder(
  play: (order: Order) => Promise<readonly string[]>,
): Promise<{ readonly findings: string[]; readonly orderCount: number }> {
  const findings = new Set<string>()
  let choices: number[] | undefined = []
  let orderCount = 0
  for (; choices !== undefined; orderCount++) {
    if (orderCount === ORDERS_MAX) throw new Error(`The scene has more than ${ORDERS_MAX} orders.`)
    const made: readonly number[] = choices
    const order = new Order((choiceCount) => made[choiceCount] ?? 0)
    for (const finding of await play(order)) findings.add(finding)
    choices = nextChoices(order)
  }
  return { findings: [...findings], orderCount }
}

/** The same for scenes with too many orders: returns what was found wrong in so many of them, drawn by chance. */
export async function inSomeOrders(
  count: number,
  play: (order: Order) => Promise<readonly string[]>,
): Promise<string[]> {
  const findings = new Set<string>()
  for (let seed = 1; seed <= count; seed++) {
    // Neighbouring seeds begin alike.
    const random = seededRandom(seed * SEED_STEP)
    // The program that ran last comes last.
    const order = new Order((_, of) => (random.fraction() < STAY_PART ? of - 1 : random.between(0, of - 1)))
    for (const finding of await play(order)) findings.add(finding)
  }
  return [...findings]
}

/** The last choice that could have been another one is. */
function nextChoices({ taken }: Order): number[] | undefined {
  for (let last = taken.length - 1; last >= 0; last--) {
    const { choice, of } = taken[last] as (typeof taken)[number]
    if (choice + 1 < of) return [...taken.slice(0, last).map((one) => one.choice), choice + 1]
  }
  return undefined
}

/** A program that, once it has an order, asks the store only when it is its turn. */
export class OrderedProcess extends Process {
  order: Order | undefined

  override async load(request: LoadRequest): Promise<LoadReply> {
    await this.order?.turn()
    return await super.load(request)
  }

  override async commit(commit: Commit): Promise<CommitReply> {
    await this.order?.turn()
    return await super.commit(commit)
  }

  override async pause(ms: number): Promise<void> {
    if (this.order === undefined) await super.pause(ms)
    else await this.order.turn(true)
  }
}
