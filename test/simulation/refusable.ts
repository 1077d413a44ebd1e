import { EngineError } from '../../src/kernel/engine-error.ts'

/** Undefined if the call was refused in a way that this caller has to expect. */
export async function refusable<T>(codes: readonly string[], call: () => Promise<T>): Promise<T | undefined> {
  try {
    return await call()
  } catch (error) {
    if (error instanceof EngineError && codes.includes(error.code)) return undefined
    throw error
  }
}
