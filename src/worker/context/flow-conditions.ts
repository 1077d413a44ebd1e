/**
 * The conditions of nodes. A condition is a function in the definition of a flow, so the worker draws the graph again, from the
 * input that was stored with the flow. A worker that cannot do that releases the execution to other workers.
 */
import { storedNodeName } from '../../client/checks/hashed-names.ts'
import { decodeValue } from '../../client/checks/payload.ts'
import type { AnyFlow } from '../../client/define/flow.ts'
import type { Condition } from '../../client/define/graph-builder.ts'
import type { AnyInputs } from '../../client/define/upstreams.ts'
import { drawFlow } from '../../client/flows/flow-calls.ts'
import { EngineError } from '../../kernel/engine-error.ts'
import type { Claimed, FlowId } from '../../kernel/index.ts'
import { failureOf } from '../error-text.ts'
import type { LeasedExecution } from '../lease/leased-execution.ts'
import { UnfitInputError } from '../lease/held-value.ts'

/** Flows whose conditions are kept, the least recently used first. */
const KEPT_FLOW_MAX = 64

const OVER_HTTP =
  'The condition of a node that was submitted with isConditional is left to a worker over HTTP that takes conditions.'

type ClaimedCondition = NonNullable<Claimed['condition']>
type Conditions = ReadonlyMap<string, Condition>

interface KeptConditions {
  readonly flow: string
  readonly encoding: string | undefined
  /** A copy, as the bytes of a claim may be a part of a larger answer, and handlers may change them. */
  readonly input: Uint8Array | undefined
  readonly drawn: Promise<Conditions>
}

export class FlowConditions {
  readonly #flows: ReadonlyMap<string, AnyFlow>
  readonly #kept = new Map<FlowId, KeptConditions>()

  constructor(flows: readonly AnyFlow[]) {
    this.#flows = new Map(flows.map((flow) => [flow.name, flow]))
  }

  /** Throws what the condition throws, and an `UnfitInputError` if this worker does not have the condition. */
  async isMet({ claimed, conditionInput }: LeasedExecution, inputs: AnyInputs): Promise<boolean> {
    const { condition, flowId, node = '' } = claimed
    if (condition === undefined || flowId === undefined) return true
    const when = (await this.#conditionsOf(flowId, condition, conditionInput)).get(node)
    if (when === undefined) {
      throw unfit(
        `Node '${node}' of flow '${condition.flow}' has no condition here, and had one when it was submitted. ${OVER_HTTP}`,
      )
    }
    const answer = when(inputs)
    if (typeof answer === 'boolean') return answer
    if (answer instanceof Promise) answer.catch(() => undefined)
    throw new EngineError('invalid_input', {
      field: 'when',
      nodes: [node],
      message: `The condition of node '${node}' must return true or false. It must be synchronous.`,
    })
  }

  async #conditionsOf(flowId: FlowId, condition: ClaimedCondition, input: Uint8Array | undefined): Promise<Conditions> {
    const found = this.#kept.get(flowId)
    // A flow that replaced another one has its id, and may have another input.
    const isKept = found !== undefined && isOf(found, condition, input)
    const kept = isKept ? found : this.#newlyDrawn(condition, input)
    this.#kept.delete(flowId)
    this.#kept.set(flowId, kept)
    const [oldest] = this.#kept.keys()
    if (this.#kept.size > KEPT_FLOW_MAX && oldest !== undefined) this.#kept.delete(oldest)
    try {
      return await kept.drawn
    } catch (error) {
      if (this.#kept.get(flowId) === kept) this.#kept.delete(flowId)
      throw error
    }
  }

  #newlyDrawn(condition: ClaimedCondition, input: Uint8Array | undefined): KeptConditions {
    return {
      flow: condition.flow,
      encoding: condition.input?.encoding,
      input: input === undefined ? undefined : new Uint8Array(input),
      drawn: this.#draw(condition, input),
    }
  }

  async #draw({ flow: name, input: info }: ClaimedCondition, input: Uint8Array | undefined): Promise<Conditions> {
    const flow = this.#flows.get(name)
    if (flow === undefined) {
      throw unfit(
        `It has a condition, which is part of flow '${name}', and this worker does not have that flow: pass it to the worker, as in fabric.work(handlers, { flows: [flow] }). ${OVER_HTTP}`,
      )
    }
    try {
      const { nodes } = await drawFlow(flow, decodeValue(info, input))
      const conditions = new Map<string, Condition>()
      for (const node of nodes) if (node.when !== undefined) conditions.set(storedNodeName(node.name), node.when)
      return conditions
    } catch (error) {
      const { message } = failureOf('error', error)
      throw unfit(`Flow '${name}' of this worker cannot be drawn for the input of the flow: ${message}`, error)
    }
  }
}

/** Whether conditions were drawn by the same definition, from the same input. */
function isOf(kept: KeptConditions, { flow, input: info }: ClaimedCondition, input: Uint8Array | undefined): boolean {
  if (kept.flow !== flow || kept.encoding !== info?.encoding) return false
  if (kept.input === undefined || input === undefined) return kept.input === input
  return Buffer.compare(kept.input, input) === 0
}

function unfit(message: string, cause?: unknown): UnfitInputError {
  return new UnfitInputError('invalid_payload', { field: 'when', message }, { cause })
}
