/** How a step asks its handler to wait for something before the step is tried again. */
import { PostponeError } from '../../client/define/errors.ts'

/** When work asks again if the handler has caught the question and postpones the execution. */
const POSTPONE_MS = 60_000

/**
 * Thrown in a step that cannot continue. The step ends without a record, the handler waits outside of it, and the step is tried
 * again.
 */
export class StepQuestion extends PostponeError {
  /** Resolves when the step can be tried again, or parks the execution. */
  readonly ask: () => Promise<void>

  constructor(ask: () => Promise<void>, message: string) {
    super(POSTPONE_MS, message)
    this.ask = ask
  }
}
