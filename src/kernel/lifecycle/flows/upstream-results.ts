/** Collects the upstream results of a member. A result is passed by reference: it is stored once, however many members read it. */
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
  /** The result's number among the blobs of the reply. */
  readonly blob: number | undefined
}

export interface InputPage {
  readonly inputs: MemberInput[]
  /** The upstream behind which to go on, if there is more. */
  readonly from: ExecutionId | undefined
}

const NOTHING: FoundInputs = { inputs: [], from: undefined, bytes: 0 }

/** Inputs that have been found and not yet been sent. */
export interface FoundInputs {
  readonly inputs: readonly GivenInput[]
  readonly from: ExecutionId | undefined
  readonly bytes: number
}

/** What a member is handed with its claim: what it has noted itself, or the first of what is found. */
export function findInputs(tx: Tx, flow: Flow | undefined, execution: Execution): FoundInputs {
  const member = execution.member
  if (flow === undefined || member === undefined || member.inputCount === 0) return NOTHING
  let bytes = 0
  for (const given of member.given) bytes = bytes + (given.result?.size ?? 0)
  const isNoted = member.inputCount <= GIVEN_INPUT_MAX && !flow.hasReplays && bytes <= CLAIM_INPUT_BYTES
  return isNoted ? { inputs: member.given, from: undefined, bytes } : lookUpInputs(tx, execution, undefined)
}

/** The next inputs of a member, up to a count and a number of bytes; at least one if there is any. */
export function lookUpInputs(tx: Tx, execution: Execution, from: string | undefined): FoundInputs {
  if ((execution.member?.inputCount ?? 0) === 0) return NOTHING
  const edges = resolvedEdges(tx, execution.id, from, CLAIM_INPUT_COUNT + 1)
  const inputs: GivenInput[] = []
  let bytes = 0
  let last: ExecutionId | undefined = undefined
  for (let i = 0; i < edges.length; i++) {
    const edge = edges[i]
    if (edge === undefined) break
    // One that was replayed and has completed again has another result than its edge remembers.
    const result = tx.get('execution', edge.upstreamId)?.result ?? edge.result
    const size = result?.size ?? 0
    const isFull = i === CLAIM_INPUT_COUNT || (i > 0 && bytes + size > CLAIM_INPUT_BYTES)
    if (isFull) return { inputs, from: last, bytes }
    last = edge.upstreamId
    if (edge.state !== 'satisfied' || edge.hands?.as !== 'input') continue
    bytes = bytes + size
    inputs.push({ name: edge.hands.name, upstreamId: edge.upstreamId, result })
  }
  return { inputs, from: undefined, bytes }
}

/** Attaches what was found to the reply. */
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

/** The result that stands in for a member's own payload, if an edge handed one on. */
export function handedPayload(tx: Tx, execution: Execution): HandedPayload | undefined {
  const upstreamId = execution.member?.payloadFrom
  if (upstreamId === undefined) return undefined
  const info = tx.get('execution', upstreamId)?.result ?? tx.get('edge', edgeId(upstreamId, execution.id))?.result
  return info === undefined ? undefined : { upstreamId, info }
}
