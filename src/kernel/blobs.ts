/** Where the bytes of an execution are kept. */
import { joinName } from './text.ts'

export function payloadKey(executionId: string): string {
  return joinName('p', executionId)
}

export function resultKey(executionId: string): string {
  return joinName('r', executionId)
}
