/**
 * The outcome of the calls of a batch in one try. A call is answered once its operation and all parts in its answer are final.
 * Applied parts stay applied: the call runs again with their reports. If it is answered already, only its rest runs.
 */
import { restOf } from '../../../kernel/index.ts'
import type { Answer, Call } from '../../store.ts'
import { isPart } from '../overlay/batch-groups.ts'
import type { BatchGroup, BatchOutcome } from '../overlay/batch-groups.ts'

/** The report of an applied part of a call. */
interface AppliedPart {
  readonly call: number
  readonly report: object
}

export interface Settled {
  /** By the numbers of the calls; undefined for those that run again. */
  readonly answers: readonly (Answer | undefined)[]
  /** The applied parts of calls that run again. */
  readonly applied: readonly AppliedPart[]
  /** Answered calls with parts left to run. */
  readonly unfinished: readonly number[]
}

export const NONE: readonly never[] = []

export class Settlement {
  readonly #outcome: BatchOutcome
  readonly #found: readonly Answer[]
  readonly #answers: (Answer | undefined)[]
  /** Whether any operation has parts. */
  readonly #hasParts: boolean
  readonly #settled: BatchGroup[] = []

  /** `found` has the answers, used for the calls that become final. */
  constructor(outcome: BatchOutcome, found: readonly Answer[]) {
    this.#outcome = outcome
    this.#found = found
    this.#answers = found.map(() => undefined)
    this.#hasParts = outcome.callOf.length > found.length
  }

  /** Marks a group as final: its reads were one snapshot, and its writes are applied. */
  settle(group: BatchGroup): void {
    const { callOf } = this.#outcome
    if (this.#hasParts) this.#settled.push(group)
    for (const operation of group.operations) {
      const call = callOf[operation] as number
      if (!isPart(callOf, operation)) this.#answers[call] = this.#found[call]
    }
  }

  /** Called once, at the end. */
  result(calls: readonly Call[]): Settled {
    const answers = this.#answers
    if (!this.#hasParts) return { answers, applied: NONE, unfinished: NONE }
    const { groups, groupOf, callOf, reports } = this.#outcome
    const isSettled = (operation: number) => this.#settled.includes(groups[groupOf[operation] as number] as BatchGroup)
    for (const { operation } of reports) if (!isSettled(operation)) answers[callOf[operation] as number] = undefined
    const applied = reports.flatMap(({ operation, report }) => {
      const call = callOf[operation] as number
      return answers[call] === undefined && isSettled(operation) ? [{ call, report }] : []
    })
    const unfinished = new Set(callOf.filter((call, i) => answers[call] !== undefined && !isSettled(i)))
    return { answers, applied, unfinished: [...unfinished].filter((call) => hasRest(calls[call])) }
  }
}

function hasRest(call: Call | undefined): boolean {
  return call !== undefined && restOf(call.operation, call.input) !== undefined
}

/** Adds the report of an applied part to a call. */
export function withApplied(call: Call, report: object): Call {
  const { applied = [] } = call.input as { readonly applied?: readonly object[] }
  return { ...call, input: { ...call.input, applied: [...applied, report] } } as Call
}

/** Returns the rest of an answered call. */
export function leftOf(call: Call): Call {
  const input = restOf(call.operation, call.input)
  return input === undefined ? call : { operation: 'claimForWorker', input, blobs: [] }
}
