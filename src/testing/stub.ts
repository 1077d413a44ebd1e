/** Stub handlers for tasks that a test does not want to run. */
import type { Handler, Task } from '../client/index.ts'

/** A handler that records the inputs of its calls. */
export interface Stub<Input> extends Handler {
  /** The inputs of all runs, in order, including retries. */
  readonly calls: readonly Input[]
}

/**
 * Creates a handler that returns a value, or the result of a function of its input. An error thrown by the function fails the
 * attempt.
 *
 * @example
 * const mail = stub(sendMail, { sent: true })
 * await using t = await testFabric([orderHandler, mail])
 * // …
 * expect(mail.calls).toEqual([{ to: 'ada@example.org' }])
 */
export function stub<Input, Parsed, Returned, Output, Inputs, Given>(
  task: Task<Input, Parsed, Returned, Output, Inputs, Given>,
  answer: Returned | ((input: Parsed) => Promise<Returned> | Returned),
): Stub<Parsed> {
  const calls: Parsed[] = []
  const handler = task.handle((input) => {
    calls.push(input)
    return isFunction<Parsed, Returned>(answer) ? answer(input) : answer
  })
  return { ...handler, calls }
}

/** Unambiguous, because a function cannot be stored as a result. */
function isFunction<Parsed, Returned>(answer: unknown): answer is (input: Parsed) => Promise<Returned> | Returned {
  return typeof answer === 'function'
}
