/** Collects the upstream results of a member. A result is passed by reference and stored once. */
import { CLAIM_INPUT_BYTES, CLAIM_INPUT_COUNT, GIVEN_INPUT_MAX } from '../../limits.ts'
import type { BlobInfo, ExecutionId } from '../../model/base-records.ts'
import type { Tx } from '../../tx.ts'
import type { Edge, Execution, Flow, GivenInput, Outcome } from '../../model/records.ts'
import { passesOutcome } from '../../rules/edge-group.ts'
import { resolvedEdges } from './inbound.ts'
import { resultKey } from '../../model/blob-keys.ts'
import { edgeId } from '../../model/indexes.ts'

/** How an upstream ended, for a member that runs whatever the outcome. */
export interface UpstreamEnd {
  readonly outcome: Outcome
  /** Absent if it completed. */
  readonly error: { readonly code: string; readonly message: string | undefined } | undefined
}

/** One named result of an upstream, or its outcome. */
export interface MemberInput {
  readonly name: string
  readonly upstreamId: ExecutionId
  readonly result: BlobInfo | undefined
  /** The position of the result among the blobs of the reply. */
  readonly blob: number | undefined
  /** Set if the member receives the outcome of the upstream instead of its result alone. */
  readonly end: UpstreamEnd | undefined
}

export interface InputPage {
  readonly inputs: MemberInput[]
  /** The upstream after which the next page begins, if there is one. */
  readonly from: ExecutionId | undefined
}

const NO_INPUTS: FoundInputs = { inputs: [], from: undefined, bytes: 0 }

interface FoundInput extends Readonly<GivenInput> {
  readonly end?: UpstreamEnd | undefined
}

/** Inputs that were found and not attached to a reply yet. */
export interface FoundInputs {
  readonly inputs: readonly FoundInput[]
  readonly from: ExecutionId | undefined
  readonly bytes: number
}

/** Returns the inputs that a claim sends: those stored in the membership, or the first page of a look-up. */
export function findInputs(tx: Tx, flow: Flow | undefined, execution: Execution): FoundInputs {
  const member = execution.member
  if (flow === undefined || member === undefined || member.inputCount === 0) return NO_INPUTS
  let bytes = 0
  for (const given of member.given) bytes = bytes + (given.result?.size ?? 0)
  const isNoted =
    member.inputCount <= GIVEN_INPUT_MAX &&
    !flow.hasReplays &&
    member.takesOutcomes !== true &&
    bytes <= CLAIM_INPUT_BYTES
  return isNoted
    ? { inputs: member.given, from: undefined, bytes }
    : lookUpInputs(tx, execution, undefined, CLAIM_INPUT_COUNT)
}

/** Returns the next inputs of a member, up to a count and a number of bytes; at least one if any is left. */
export function lookUpInputs(tx: Tx, execution: Execution, from: string | undefined, countMax: number): FoundInputs {
  const member = execution.member
  if (member === undefined || member.inputCount === 0) return NO_INPUTS
  const edges = resolvedEdges(tx, execution.id, from, countMax + 1)
  const inputs: FoundInput[] = []
  let bytes = 0
  let last: ExecutionId | undefined = undefined
  for (let i = 0; i < edges.length; i++) {
    const edge = edges[i]
    if (edge === undefined) break
    const upstream = tx.get('execution', edge.upstreamId)
    const isOutcome = passesOutcome(member.group?.policy ?? 'all_of', edge.onFailure)
    const end = isOutcome ? endOf(edge, upstream) : undefined
    // An upstream that was replayed and completed again has another result than its edge recorded.
    const result = end === undefined || end.error === undefined ? (upstream?.result ?? edge.result) : undefined
    const size = result?.size ?? 0
    const isFull = i === countMax || (i > 0 && bytes + size > CLAIM_INPUT_BYTES)
    if (isFull) return { inputs, from: last, bytes }
    last = edge.upstreamId
    if (edge.state !== 'satisfied' || edge.hands?.as !== 'input') continue
    bytes = bytes + size
    inputs.push({ name: edge.hands.name, upstreamId: edge.upstreamId, result, end })
  }
  return { inputs, from: undefined, bytes }
}

/** How an upstream ended. One that is being replayed counts as its edge recorded it. */
function endOf(edge: Edge, upstream: Execution | undefined): UpstreamEnd {
  const state = upstream?.state
  if (state?.phase !== 'ended') {
    const outcome = edge.outcome ?? 'completed'
    return { outcome, error: outcome === 'completed' ? undefined : { code: 'replayed', message: undefined } }
  }
  const { outcome, reason } = state
  const failure = upstream?.failure
  switch (outcome) {
    case 'completed':
      return { outcome, error: undefined }
    case 'failed':
    case 'expired':
      return { outcome, error: { code: failure?.category ?? outcome, message: failure?.message ?? reason } }
    case 'cancelled':
      return { outcome, error: { code: outcome, message: reason } }
    case 'skipped':
      return { outcome, error: { code: reason ?? outcome, message: undefined } }
  }
}

/** Attaches the results to the reply. */
export function sendInputs(tx: Tx, found: FoundInputs): InputPage {
  const inputs: MemberInput[] = []
  for (const input of found.inputs) {
    const result = input.result
    const blob = result === undefined ? undefined : tx.send(resultKey(input.upstreamId), result.size)
    inputs.push({ name: input.name, upstreamId: input.upstreamId, result, blob, end: input.end })
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
