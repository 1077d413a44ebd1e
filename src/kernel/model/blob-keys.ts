/** The keys under which blobs are stored. */
import { joinName } from './names.ts'

export function payloadKey(executionId: string): string {
  return joinName('p', executionId)
}

/** The second place of a payload. Members of a flow that has run before have further ones, with the number of its run. */
const OTHER_SLOT = 1

interface PayloadOwner {
  readonly id: string
  readonly payloadSlot: number | undefined
}

/** Where the payload of an execution is stored. */
export function payloadKeyOf({ id, payloadSlot }: PayloadOwner): string {
  if (payloadSlot === undefined) return payloadKey(id)
  const key = joinName('f', id)
  return payloadSlot === OTHER_SLOT ? key : joinName(key, String(payloadSlot))
}

/** The place that the payload of an execution does not take. */
export function otherSlot({ payloadSlot }: PayloadOwner): number | undefined {
  return payloadSlot === undefined ? OTHER_SLOT : undefined
}

/** Where the input of its follow-up is stored. */
export function followUpKey(execution: PayloadOwner): string {
  return payloadKeyOf({ id: execution.id, payloadSlot: otherSlot(execution) })
}

export function resultKey(executionId: string): string {
  return joinName('r', executionId)
}

interface InputOwner {
  readonly id: string
  readonly inputSlot: number | undefined
}

/** The input of a flow's definition. */
export function flowInputKey({ id, inputSlot }: InputOwner): string {
  const key = joinName('f', id)
  return inputSlot === undefined ? key : joinName(key, String(inputSlot))
}

/** The input of the executions or flows that a schedule creates. A change of the schedule has a place of its own. */
export function scheduleInputKey({ id, revision }: { readonly id: string; readonly revision: number }): string {
  return joinName('c', joinName(id, String(revision)))
}

/** The payload of one node of the flow that a schedule starts. The input of its definition has the key of the schedule. */
export function scheduleNodeKey(schedule: { readonly id: string; readonly revision: number }, node: number): string {
  return joinName(scheduleInputKey(schedule), String(node))
}

export function stepValueKey(stepId: string): string {
  return joinName('s', stepId)
}

/** The frames of one chunk. */
export function frameChunkKey(chunkId: string): string {
  return joinName('c', chunkId)
}

/** The newest live frames of a stream. */
export function liveFramesKey(streamId: string): string {
  return joinName('l', streamId)
}

export function summaryKey(streamId: string): string {
  return joinName('m', streamId)
}

export function signalPayloadKey(signalId: string): string {
  return joinName('g', signalId)
}
