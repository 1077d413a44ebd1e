/** What a member is given of those that it waited for: by reference, so that a result is stored once whoever reads it. */
import { resultKey } from '../blobs.ts'
import { edgeId } from '../indexes.ts'
import { CLAIM_INPUT_BYTES, CLAIM_INPUT_COUNT, GIVEN_INPUT_MAX } from '../limits.ts'
import type { BlobInfo, Execution, ExecutionId, Flow } from '../records.ts'
import { refused } from '../results.ts'
import type { Refused } from '../results.ts'
import type { Tx } from '../tx.ts'
import { resolvedEdges } from './inbound.ts'

/** One named result of an upstream that completed. */
export interface MemberInput {
  readonly name: string
  readonly upstreamId: ExecutionId
  readonly result: BlobInfo | undefined
  /** The result's number among the blobs of the reply. */
  readonly blob: number | undefined
}

export interface InputPage {
  readonly inputs: MemberInput[]
  /** The upstream behind which to go on, if there is more. */
  readonly from: ExecutionId | undefined
}

const NO_INPUTS: InputPage = { inputs: [], from: undefined }

/** What a member is handed with its claim: what it has noted itself, or the first of what is found. */
export function claimInputs(tx: Tx, flow: Flow | undefined, execution: Execution): InputPage {
  const member = execution.member
  if (flow === undefined || member === undefined || member.inputCount === 0) return NO_INPUTS
  let bytes = 0
  for (const given of member.given) bytes = bytes + (given.result?.size ?? 0)
  const isNoted = member.inputCount <= GIVEN_INPUT_MAX && !flow.hasReplays && bytes <= CLAIM_INPUT_BYTES
  if (!isNoted) return gatherInputs(tx, execution, undefined)
  const inputs: MemberInput[] = []
  for (const given of member.given) {
    const blob = given.result === undefined ? undefined : tx.send(resultKey(given.upstreamId))
    inputs.push({ name: given.name, upstreamId: given.upstreamId, result: given.result, blob })
  }
  return { inputs, from: undefined }
}

/** The next inputs of a member, up to a count and a number of bytes; at least one if there is any. */
function gatherInputs(tx: Tx, execution: Execution, from: string | undefined): InputPage {
  if ((execution.member?.inputCount ?? 0) === 0) return NO_INPUTS
  const edges = resolvedEdges(tx, execution.id, from, CLAIM_INPUT_COUNT + 1)
  const inputs: MemberInput[] = []
  let bytes = 0
  let last: ExecutionId | undefined = undefined
  for (let i = 0; i < edges.length; i++) {
    const edge = edges[i]
    if (edge === undefined) break
    // One that was replayed and has completed again has another result than its edge remembers.
    const result = tx.get('execution', edge.upstreamId)?.result ?? edge.result
    bytes = bytes + (result?.size ?? 0)
    const isFull = i === CLAIM_INPUT_COUNT || (i > 0 && bytes > CLAIM_INPUT_BYTES)
    if (isFull) return { inputs, from: last }
    last = edge.upstreamId
    if (edge.state !== 'satisfied' || edge.hands?.as !== 'input') continue
    const blob = result === undefined ? undefined : tx.send(resultKey(edge.upstreamId))
    inputs.push({ name: edge.hands.name, upstreamId: edge.upstreamId, result, blob })
  }
  return { inputs, from: undefined }
}

/** The result that stands in for a member's own payload, if an edge handed one on. */
export function handedPayload(
  tx: Tx,
  execution: Execution,
): { readonly upstreamId: ExecutionId; readonly info: BlobInfo } | undefined {
  const upstreamId = execution.member?.payloadFrom
  if (upstreamId === undefined) return undefined
  const info = tx.get('execution', upstreamId)?.result ?? tx.get('edge', edgeId(upstreamId, execution.id))?.result
  return info === undefined ? undefined : { upstreamId, info }
}

export interface ReadInputsInput {
  readonly executionId: ExecutionId
  readonly from?: ExecutionId | undefined
}

export type ReadInputsResult = { readonly kind: 'read'; readonly page: InputPage } | Refused<'execution_not_found'>

export function readInputs(tx: Tx, input: ReadInputsInput): ReadInputsResult {
  const execution = tx.get('execution', input.executionId)
  if (execution === undefined) return refused('execution_not_found', { executionId: input.executionId })
  return { kind: 'read', page: gatherInputs(tx, execution, input.from) }
}
