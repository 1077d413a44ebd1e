/**
 * Starts children. The starts of one turn are sent together, in pages. If a handler waits for children that it starts in the
 * same turn, the last page is left to the wait, which starts them and parks the execution in one operation.
 */
import { StepRefusedError } from '../../client/define/errors.ts'
import type { PreparedSubmit } from '../../client/executions/submit.ts'
import { BATCH_BYTES, CHILD_START_MAX } from '../../kernel/index.ts'
import type { ChildInput, OperationInput, Refused, StartedChild } from '../../kernel/index.ts'
import type { Reply } from '../../stores/batcher.ts'
import { EngineError } from '../../kernel/engine-error.ts'
import type { LeasedExecution } from '../lease/leased-execution.ts'
import { retryUntilAnswered } from '../store/retry-until-answered.ts'
import type { HandlerRun } from '../steps/handler-run.ts'
import type { JournalServices } from '../steps/step-journal.ts'
import type { KnownChild } from './known-child.ts'

/** Pages in flight at once. They write the same execution, so more of them would only conflict. */
const PAGES_AT_ONCE = 8
/** Bytes of inputs per page. A single input may be larger. */
const PAGE_BYTES = 4 * BATCH_BYTES

/** The rule of a wait for children, as it is stored. */
export type JoinInput = Omit<NonNullable<OperationInput<'startChildren'>['join']>, 'offset'>

/** A wait for children. */
export interface ChildJoin {
  readonly input: JoinInput
  /** In the order of the handler's list. */
  readonly children: readonly KnownChild[]
}

export interface PreparedStart {
  readonly child: KnownChild
  readonly submit: PreparedSubmit
}

interface QueuedStart extends PreparedStart {
  /** Ends the call that waits for the start. */
  readonly end: () => void
}

/** The starts of one operation. */
export interface StartPage {
  readonly starts: readonly QueuedStart[]
  /** The wait that counts them, and the place of the first of them in its list. */
  readonly join: (JoinInput & { readonly offset: number }) | undefined
}

interface Gathering {
  readonly join: ChildJoin
  readonly resolve: (page: StartPage | undefined) => void
}

export class ChildStarter {
  readonly #leased: LeasedExecution
  readonly #services: JournalServices
  readonly #run: HandlerRun
  #queue: QueuedStart[] = []
  #gatherings: Gathering[] = []
  #isScheduled = false

  constructor(leased: LeasedExecution, services: JournalServices, run: HandlerRun) {
    this.#leased = leased
    this.#services = services
    this.#run = run
  }

  /** Resolves when the start was sent, or has failed. `child.recorded` has the result. */
  start(prepared: PreparedStart): Promise<void> {
    return new Promise((end) => {
      this.#queue.push({ ...prepared, end })
      this.#schedule()
    })
  }

  /** Resolves at the end of the turn: with the last page of the starts that a join waits for, if the join is to send it. */
  gather(join: ChildJoin): Promise<StartPage | undefined> {
    return new Promise((resolve) => {
      this.#gatherings.push({ join, resolve })
      this.#schedule()
    })
  }

  /** Sends a page without parking. */
  async send(page: StartPage): Promise<void> {
    try {
      const call = () => this.request(page, false)
      const { result } = await retryUntilAnswered(this.#services, this.#leased, call)
      if (result.kind === 'refused') throw this.refusalOf(page, result)
      if (result.kind === 'started') this.record(page, result.children)
      // The execution was parked under this lease by another call, so this run is over.
      else throw this.#run.exitEarly(EARLY_EXITS[result.kind])
    } catch (error) {
      this.fail(page, error)
    }
    for (const { end } of page.starts) end()
  }

  request({ starts, join }: StartPage, park: boolean): Promise<Reply<'startChildren'>> {
    const { id: executionId, partition, claimed } = this.#leased
    const blobs: Uint8Array[] = []
    const children = starts.map((start) => childInput(start, blobs))
    const input = { executionId, fence: claimed.fence, children, join, park }
    return this.#services.batcher.run(partition, 'startChildren', input, blobs)
  }

  record({ starts }: StartPage, started: readonly StartedChild[]): void {
    starts.forEach(({ child }, i) => {
      const { executionId: id, position } = started[i] ?? {}
      if (id !== undefined && position !== undefined) child.record({ id, position })
      else child.fail(new EngineError('step_not_found', { step: child.plan.name, message: 'It was not started.' }))
    })
  }

  fail({ starts }: StartPage, error: unknown): void {
    for (const { child } of starts) child.fail(error)
  }

  refusalOf({ starts }: StartPage, refused: Refused): EngineError {
    const { code, detail } = this.#run.refusalOf(refused)
    const names = starts.slice(0, NAMED_MAX).map(({ child }) => `'${child.plan.name}'`)
    const rest = starts.length > NAMED_MAX ? ` and ${starts.length - NAMED_MAX} more` : ''
    const message = `The children ${names.join(', ')}${rest} were not started.`
    return this.#leased.refusal ?? new StepRefusedError(code, { ...detail, message })
  }

  #schedule(): void {
    if (this.#isScheduled) return
    this.#isScheduled = true
    void this.#run.yieldToEventLoop().then(() => this.#flush())
  }

  async #flush(): Promise<void> {
    this.#isScheduled = false
    const starts = this.#queue
    const gatherings = this.#gatherings
    this.#queue = []
    this.#gatherings = []
    const carrier = this.#carrierOf(starts, gatherings)
    for (const gathering of gatherings) if (gathering !== carrier) gathering.resolve(undefined)
    if (carrier === undefined) {
      await this.#sendAll(pagesOf(starts, undefined))
      return
    }
    const { join } = carrier
    const places = new Map(join.children.map((child, i) => [child, i]))
    const placeOf = ({ child }: QueuedStart) => places.get(child) ?? -1
    const joined = starts.filter(({ child }) => places.has(child)).sort((a, b) => placeOf(a) - placeOf(b))
    const pages = pagesOf(joined, join.input)
    const last = pages.pop()
    const others = starts.filter(({ child }) => !places.has(child))
    await this.#sendAll([...pagesOf(others, undefined), ...pages])
    // A join of which a page is missing would wait forever.
    const isComplete =
      last !== undefined && pages.every(({ starts: sent }) => sent.every(({ child }) => !child.hasFailed))
    if (!isComplete && last !== undefined) await this.send(last)
    carrier.resolve(isComplete ? last : undefined)
  }

  /**
   * Returns the first join, if it waits for children of this turn only and nothing else is pending: a call that parks waits for
   * all other calls, and the children must not.
   */
  #carrierOf(starts: readonly QueuedStart[], gatherings: readonly Gathering[]): Gathering | undefined {
    const [first] = gatherings
    if (first === undefined || starts.length === 0) return undefined
    const queued = new Set(starts.map(({ child }) => child))
    return this.#run.hasOnly(queued) && first.join.children.every((child) => queued.has(child)) ? first : undefined
  }

  async #sendAll(pages: readonly StartPage[]): Promise<void> {
    for (let from = 0; from < pages.length; from += PAGES_AT_ONCE) {
      await Promise.all(pages.slice(from, from + PAGES_AT_ONCE).map((page) => this.send(page)))
    }
  }
}

/** Children that an error names. */
const NAMED_MAX = 3

export const EARLY_EXITS = {
  suspended: 'parked',
  already_suspended: 'parked',
  cancelled: 'cancelled',
  already_cancelled: 'cancelled',
} as const

function pagesOf(starts: readonly QueuedStart[], join: JoinInput | undefined): StartPage[] {
  const pages: StartPage[] = []
  let page: QueuedStart[] = []
  let bytes = 0
  let offset = 0
  const endPage = () => {
    if (page.length > 0) pages.push({ starts: page, join: join === undefined ? undefined : { ...join, offset } })
    offset += page.length
    page = []
    bytes = 0
  }
  for (const start of starts) {
    const size = start.submit.blobs[0]?.byteLength ?? 0
    if (page.length === CHILD_START_MAX || bytes + size > PAGE_BYTES) endPage()
    page.push(start)
    bytes += size
  }
  endPage()
  return pages
}

/** Adds the bytes of its input to the blobs of the page. */
function childInput({ child: { plan }, submit }: QueuedStart, blobs: Uint8Array[]): ChildInput {
  const { payload } = submit.input
  const [bytes] = submit.blobs
  const create = payload === undefined ? submit.input : { ...submit.input, payload: { ...payload, blob: blobs.length } }
  if (payload !== undefined && bytes !== undefined) blobs.push(bytes)
  // Tasks of earlier versions of the library lack the list.
  const inheritTags = (plan.task.inheritTags as readonly string[] | undefined) ?? []
  return { name: plan.name, create, isDetached: plan.isDetached || undefined, inheritTags }
}
