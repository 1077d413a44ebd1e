/** The submits of each execution that had an effect, in the order of the store. */
import { decodeValue } from '../../src/client/index.ts'
import type { OperationInput } from '../../src/kernel/index.ts'
import type { Work } from './kind.ts'
import type { Effect } from './network.ts'

export interface EffectiveSubmit {
  readonly requestId: string
  /** The name in its input. */
  readonly input: string
  /** How long after its end its id stays taken. */
  readonly takenMs: number
}

export class SubmitOrder {
  readonly #submits = new Map<string, EffectiveSubmit[]>()

  /** A repeated submit has no further effect. */
  note({ calls, answers }: Effect): void {
    calls.forEach((call, i) => {
      const answer = answers[i]
      if (call.operation !== 'createExecution' || answer?.kind !== 'answered') return
      if (['joined', 'refused'].includes(answer.result.kind)) return
      const input = call.input as OperationInput<'createExecution'>
      const { executionId, requestId = '', payload, retentionMs, dedupeMs = 0 } = input
      const submits = this.of(executionId)
      if (submits.some((one) => one.requestId === requestId)) return
      const { name } = decodeValue(payload, call.blobs[payload?.blob ?? -1]) as Work
      submits.push({ requestId, input: name, takenMs: Math.max(retentionMs, dedupeMs) })
      this.#submits.set(executionId, submits)
    })
  }

  of(executionId: string): EffectiveSubmit[] {
    return this.#submits.get(executionId) ?? []
  }
}
