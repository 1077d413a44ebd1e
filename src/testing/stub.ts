/** Handlers that stand in for tasks a test does not want to run. */
import type { Handler, Task } from '../client/index.ts'

/** A handler that keeps what it was called with. */
export interface Stub<Input> extends Handler {
  /** The inputs of its runs, in their order; one that runs again stands there again. */
  readonly calls: readonly Input[]
}

/**
 * A handler that answers with a value, or with what a function makes of its input. A function that throws makes the attempt
 * fail.
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

/** No result is a function, because none could be stored. */
function isFunction<Parsed, Returned>(answer: unknown): answer is (input: Parsed) => Promise<Returned> | Returned {
  return typeof answer === 'function'
}
