/** What is sent after an execution was delayed, for an error that delays it: the store has no lease of it any more then. */
import type { PostponeError } from '../../client/define/errors.ts'

const calls = new WeakMap<PostponeError, () => Promise<void>>()

export function sendAfterDelay(error: PostponeError, call: () => Promise<void>): void {
  calls.set(error, call)
}

/** Returns the call that belongs to an error, if it has one. */
export function callAfterDelay(error: PostponeError): (() => Promise<void>) | undefined {
  return calls.get(error)
}
