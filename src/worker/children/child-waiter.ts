/**
 * Waits for children. A wait that is not decided parks the execution and ends the run of its handler; the next run reaches the
 * same wait and reads its verdict. Every wait is recorded, so that later runs get the same answer.
 */
import { StepRefusedError } from '../../client/define/errors.ts'
import { CHILD_JOIN_MAX, STEP_PAGE_MAX } from '../../kernel/index.ts'
import type { Join, Refused } from '../../kernel/index.ts'
import type { Reply } from '../../stores/batcher.ts'
import { EngineError } from '../../kernel/engine-error.ts'
import type { LeasedExecution } from '../lease/leased-execution.ts'
import { retryUntilAnswered } from '../store/retry-until-answered.ts'
import type { HandlerRun, ParkResult } from '../steps/handler-run.ts'
import type { JournalServices, StepJournal } from '../steps/step-journal.ts'
import { EARLY_EXITS } from './child-starter.ts'
import type { ChildJoin, ChildStarter, StartPage } from './child-starter.ts'
import type { KnownChild } from './known-child.ts'

export class ChildWaiter {
  readonly #leased: LeasedExecution
  readonly #services: JournalServices
  readonly #run: HandlerRun
  readonly #journal: StepJournal
  readonly #starter: ChildStarter

  constructor(
    leased: LeasedExecution,
    services: JournalServices,
    run: HandlerRun,
    journal: StepJournal,
    starter: ChildStarter,
  ) {
    this.#leased = leased
    this.#services = services
    this.#run = run
    this.#journal = journal
    this.#starter = starter
  }

  /** Resolves with the verdict, or parks the execution and never settles. */
  async wait(join: ChildJoin): Promise<Join> {
    this.#run.throwIfStopping()
    const { mustUnwind } = this.#run
    const found = await this.#run.call(() => this.#journal.find('join', join.input.name))
    if (found?.isFinal === true && found.step.join !== undefined) return found.step.join
    this.#run.throwToUnwind(mustUnwind)
    const page = await this.#starter.gather(join)
    if (page !== undefined) return await this.#startAndPark(join, page)
    for (const child of join.children) await child.recorded
    return await this.#joinInPages(join)
  }

  /** Reads the ends of children again that this run has not seen. Those that are still open stay so. */
  async readEnds(children: readonly KnownChild[]): Promise<void> {
    const open = new Map<string, KnownChild>()
    const positions: number[] = []
    for (const child of children) {
      if (child.ended !== undefined) continue
      const { position } = await child.recorded
      open.set(child.plan.name, child)
      positions.push(position)
    }
    for (const { from, to } of stretchesOf(positions)) {
      await this.#run.call(() =>
        this.#journal.readAgain(from, to, (step, value) => {
          if (step.kind === 'child') open.get(step.name)?.read(step, value)
        }),
      )
    }
  }

  async #startAndPark(join: ChildJoin, page: StartPage): Promise<Join> {
    const end = () => {
      for (const start of page.starts) start.end()
    }
    try {
      return await this.#run.park(
        () => this.#starter.request(page, true),
        (reply) => this.#readStarted(join, page, reply),
        {
          subjects: new Set(page.starts.map(({ child }) => child)),
          sendAlone: () => void this.#starter.send(page),
          end,
        },
      )
    } catch (error) {
      this.#starter.fail(page, error)
      throw error
    }
  }

  #readStarted({ input }: ChildJoin, page: StartPage, { result }: Reply<'startChildren'>): ParkResult<Join> {
    if (result.kind === 'refused') throw this.#starter.refusalOf(page, result)
    if (result.kind !== 'started') return { earlyExit: EARLY_EXITS[result.kind] }
    if (result.join === undefined) throw undecided(input.name)
    this.#starter.record(page, result.children)
    return { answer: result.join }
  }

  async #joinInPages(join: ChildJoin): Promise<Join> {
    const names = join.children.map(({ plan }) => plan.name)
    let offset = 0
    for (; offset + CHILD_JOIN_MAX < names.length; offset += CHILD_JOIN_MAX) {
      const page = names.slice(offset, offset + CHILD_JOIN_MAX)
      const from = offset
      await this.#run.call(() => this.#sendPage(join, page, from))
    }
    return await this.#run.park(
      () => this.#request(join, names.slice(offset), offset, true),
      ({ result }): ParkResult<Join> => {
        if (result.kind === 'refused') throw this.#refusalOf(join, result)
        if (result.kind === 'decided') return { answer: result.join }
        if (result.kind === 'joining') throw undecided(join.input.name)
        return { earlyExit: EARLY_EXITS[result.kind] }
      },
    )
  }

  async #sendPage(join: ChildJoin, names: readonly string[], offset: number): Promise<void> {
    const call = () => this.#request(join, names, offset, false)
    const { result } = await retryUntilAnswered(this.#services, this.#leased, call)
    if (result.kind === 'refused') throw this.#refusalOf(join, result)
    if (result.kind === 'joining' || result.kind === 'decided') return
    throw this.#run.exitEarly(EARLY_EXITS[result.kind])
  }

  #request({ input }: ChildJoin, children: readonly string[], offset: number, isLast: boolean) {
    const { id: executionId, partition, claimed } = this.#leased
    const page = { ...input, executionId, fence: claimed.fence, children, offset, isLast }
    return this.#services.batcher.run(partition, 'joinChildren', page)
  }

  #refusalOf({ input }: ChildJoin, refused: Refused): EngineError {
    const { code, detail } = this.#run.refusalOf(refused)
    const message = `Refused for the wait '${input.name}'.`
    return this.#leased.refusal ?? new StepRefusedError(code, { ...detail, step: detail.step ?? input.name, message })
  }
}

interface Stretch {
  readonly from: number
  to: number
}

/** Groups positions so that no page is read that has none of them. */
function stretchesOf(positions: readonly number[]): Stretch[] {
  const stretches: Stretch[] = []
  for (const position of [...positions].sort((a, b) => a - b)) {
    const last = stretches.at(-1)
    if (last !== undefined && position - last.to <= STEP_PAGE_MAX) last.to = position
    else stretches.push({ from: position, to: position })
  }
  return stretches
}

function undecided(step: string): EngineError {
  return new EngineError('corruption', { step, message: `The wait '${step}' for children has no verdict.` })
}
