/** Collects the upstream results of a member. A result is passed by reference and stored once. */
import { CLAIM_INPUT_BYTES, CLAIM_INPUT_COUNT, GIVEN_INPUT_MAX } from '../../limits.ts'
import type { BlobInfo, ExecutionId } from '../../model/base-records.ts'
import type { Tx } from '../../tx.ts'
import type { Execution, Flow, GivenInput } from '../../model/records.ts'

import { resolvedEdges } from './inbound.ts'
import { resultKey } from '../../model/blob-keys.ts'
import { edgeId } from '../../model/indexes.ts'

/** One named result of an upstream that completed. */
export interface MemberInput {
  readonly name: string
  readonly upstreamId: ExecutionId
  readonly result: BlobInfo | undefined
  /** The position of the result among the blobs of the reply. */
  readonly blob: number | undefined
}

export interface InputPage {
  readonly inputs: MemberInput[]
  /** The upstream after which the next page begins, if there is one. */
  readonly from: ExecutionId | undefined
}

const NO_INPUTS: FoundInputs = { inputs: [], from: undefined, bytes: 0 }

/** Inputs that were found and not attached to a reply yet. */
export interface FoundInputs {
  readonly inputs: readonly GivenInput[]
  readonly from: ExecutionId | undefined
  readonly bytes: number
}

/** Returns the inputs that a claim sends: those stored in the membership, or the first page of a look-up. */
export function findInputs(tx: Tx, flow: Flow | undefined, execution: Execution): FoundInputs {
  const member = execution.member
  if (flow === undefined || member === undefined || member.inputCount === 0) return NO_INPUTS
  let bytes = 0
  for (const given of member.given) bytes = bytes + (given.result?.size ?? 0)
  const isNoted = member.inputCount <= GIVEN_INPUT_MAX && !flow.hasReplays && bytes <= CLAIM_INPUT_BYTES
  return isNoted
    ? { inputs: member.given, from: undefined, bytes }
    : lookUpInputs(tx, execution, undefined, CLAIM_INPUT_COUNT)
}

/** Returns the next inputs of a member, up to a count and a number of bytes; at least one if any is left. */
export function lookUpInputs(tx: Tx, execution: Execution, from: string | undefined, countMax: number): FoundInputs {
  if ((execution.member?.inputCount ?? 0) === 0) return NO_INPUTS
  const edges = resolvedEdges(tx, execution.id, from, countMax + 1)
  const inputs: GivenInput[] = []
  let bytes = 0
  let last: ExecutionId | undefined = undefined
  for (let i = 0; i < edges.length; i++) {
    const edge = edges[i]
    if (edge === undefined) break
    // An upstream that was replayed and completed again has another result than its edge recorded.
    const result = tx.get('execution', edge.upstreamId)?.result ?? edge.result
    const size = result?.size ?? 0
    const isFull = i === countMax || (i > 0 && bytes + size > CLAIM_INPUT_BYTES)
    if (isFull) return { inputs, from: last, bytes }
    last = edge.upstreamId
    if (edge.state !== 'satisfied' || edge.hands?.as !== 'input') continue
    bytes = bytes + size
    inputs.push({ name: edge.hands.name, upstreamId: edge.upstreamId, result })
  }
  return { inputs, from: undefined, bytes }
}

/** Attaches the results to the reply. */
export function sendInputs(tx: Tx, found: FoundInputs): InputPage {
  const inputs: MemberInput[] = []
  for (const input of found.inputs) {
    const result = input.result
    const blob = result === undefined ? undefined : tx.send(resultKey(input.upstreamId), result.size)
    inputs.push({ name: input.name, upstreamId: input.upstreamId, result, blob })
  }
  return { inputs, from: found.from }
}

export interface HandedPayload {
  readonly upstreamId: ExecutionId
  readonly info: BlobInfo
}

/** Returns the upstream result that replaces the member's own payload, if an edge passes one on. */
export function handedPayload(tx: Tx, execution: Execution): HandedPayload | undefined {
  const upstreamId = execution.member?.payloadFrom
  if (upstreamId === undefined) return undefined
  const info = tx.get('execution', upstreamId)?.result ?? tx.get('edge', edgeId(upstreamId, execution.id))?.result
  return info === undefined ? undefined : { upstreamId, info }
}
