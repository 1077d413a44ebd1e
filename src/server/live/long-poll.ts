/** Waits for the end of an execution or a flow for a limited time. */
import { EngineError } from '../../kernel/engine-error.ts'
import type { Runtime } from '../../runtime/index.ts'

/** Returns what `wait` returns, or undefined once the time is over. The signal of `wait` aborts then. */
export async function waitAtMost<T>(
  runtime: Runtime,
  ms: number,
  signal: AbortSignal,
  wait: (signal: AbortSignal) => Promise<T>,
): Promise<T | undefined> {
  if (ms === 0) return undefined
  const over = new AbortController()
  const timer = runtime.after(ms, () => over.abort())
  try {
    return await wait(AbortSignal.any([signal, over.signal]))
  } catch (error) {
    const isOver = over.signal.aborted && error instanceof EngineError && error.code === 'aborted'
    if (isOver && !signal.aborted) return undefined
    throw error
  } finally {
    timer.cancel()
  }
}
