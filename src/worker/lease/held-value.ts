/** The values of an execution as a worker reads them. One that it cannot read ends the run, and other workers are offered the execution. */
import { decodeValue } from '../../client/checks/payload.ts'
import type { BlobInfo } from '../../kernel/index.ts'
import { EngineError } from '../../kernel/engine-error.ts'
import type { LeasedExecution } from './leased-execution.ts'

/** Ends a run of a handler: the execution is released, because another program may have the right schema or the key. */
export class UnfitInputError extends EngineError {}

/**
 * Decodes a value. Throws an `UnfitInputError` if this worker cannot open it, such as without its key. A handler that catches the error
 * gets it from every durable call from then on.
 */
export function decodeHeld(
  leased: LeasedExecution,
  info: BlobInfo | undefined,
  bytes: Uint8Array | undefined,
): unknown {
  try {
    return decodeValue(info, bytes)
  } catch (error) {
    if (!(error instanceof EngineError)) throw error
    leased.unfit ??= new UnfitInputError(error.code, error.detail, { cause: error })
    throw leased.unfit
  }
}
