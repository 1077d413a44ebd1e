/** The keys under which blobs are stored. */
import { joinName } from './names.ts'

export function payloadKey(executionId: string): string {
  return joinName('p', executionId)
}

export function resultKey(executionId: string): string {
  return joinName('r', executionId)
}

/** The input of a flow's definition. */
export function flowInputKey(flowId: string): string {
  return joinName('f', flowId)
}

export function stepValueKey(stepId: string): string {
  return joinName('s', stepId)
}

export function signalPayloadKey(signalId: string): string {
  return joinName('g', signalId)
}
