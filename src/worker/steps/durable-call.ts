/** What the durable calls of a handler have in common. */
import { StepRefusedError } from '../../client/define/errors.ts'
import type { ErrorCode } from '../../kernel/index.ts'
import { EngineError } from '../../kernel/engine-error.ts'
import type { HandlerRun } from './handler-run.ts'

/** Errors of arguments. The same arguments are refused again, so a retry is pointless. */
const FINAL_CODES: ReadonlySet<ErrorCode> = new Set<ErrorCode>(['invalid_input', 'unknown_task'])

/** Makes a durable call. Prevents an unhandled rejection if the handler does not await it. */
export function beginCall<T>(run: HandlerRun, what: string, call: () => Promise<T>): Promise<T> {
  const begun = outsideOfSteps(run, what, call)
  begun.catch(() => undefined)
  return begun
}

async function outsideOfSteps<T>(run: HandlerRun, what: string, call: () => Promise<T>): Promise<T> {
  run.throwInsideStep(`ctx.${what}`)
  try {
    return await call()
  } catch (error) {
    if (!(error instanceof EngineError) || !FINAL_CODES.has(error.code)) throw error
    throw new StepRefusedError(error.code, error.detail, { cause: error })
  }
}
