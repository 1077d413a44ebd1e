/** The submits of each execution and of each flow that had an effect, in the order of the store. */
import { decodeValue } from '../../src/client/index.ts'
import type { BlobInput, OperationInput } from '../../src/kernel/index.ts'
import type { Answer, Call } from '../../src/stores/store.ts'
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

  note({ calls, answers }: Effect): void {
    calls.forEach((call, i) => {
      const answer = answers[i]
      if (answer?.kind !== 'answered') return
      if (call.operation === 'createExecution') this.#noteExecution(call, answer.result)
      else if (call.operation === 'submitFlow') this.#noteFlow(call, answer.result)
    })
  }

  /** Of an execution or a flow. */
  of(id: string): EffectiveSubmit[] {
    return this.#submits.get(id) ?? []
  }

  #noteExecution(call: Call, { kind }: Result): void {
    if (['joined', 'refused'].includes(kind)) return
    const input = call.input as OperationInput<'createExecution'>
    const { executionId, requestId = '', payload, retentionMs, dedupeMs = 0 } = input
    this.#add(executionId, { requestId, input: nameIn(call, payload), takenMs: Math.max(retentionMs, dedupeMs) })
  }

  #noteFlow(call: Call, { kind, isClearing }: Result): void {
    // The call that only removes the members of the run before is sent again.
    if (['joined', 'refused'].includes(kind) || isClearing === true) return
    const { flowId, requestId, nodes, retentionMs, dedupeMs = 0 } = call.input as OperationInput<'submitFlow'>
    const [first] = nodes
    if (first === undefined) return
    // The input of a node is that of its flow with its name.
    const input = nameIn(call, first.create.payload).split(' ')[0] ?? ''
    this.#add(flowId, { requestId: requestId ?? '', input, takenMs: Math.max(retentionMs, dedupeMs) })
  }

  /** A repeated submit has no further effect. */
  #add(id: string, submit: EffectiveSubmit): void {
    const submits = this.of(id)
    if (submits.some((one) => one.requestId === submit.requestId)) return
    submits.push(submit)
    this.#submits.set(id, submits)
  }
}

type Result = Extract<Answer, { kind: 'answered' }>['result'] & { readonly isClearing?: boolean }

function nameIn(call: Call, payload: BlobInput | undefined): string {
  return (decodeValue(payload, call.blobs[payload?.blob ?? -1]) as Work).name
}
