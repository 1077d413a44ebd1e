/** Waiting for an end: looks each time somebody says that it has come, and never misses one. */
import type { ExecutionId, FlowId } from '../kernel/index.ts'
import { EngineError } from '../stores/engine-error.ts'
import type { EndListener, EndNews } from './end-watcher.ts'
import { checkOptions, checkSignal } from './names.ts'

export interface WaitOptions {
  readonly signal?: AbortSignal
}

const WAIT_KEYS = ['signal'] as const satisfies readonly (keyof WaitOptions)[]

/** Who tells of ends. */
export interface EndSource {
  /** @internal */
  watchEnd(
    id: ExecutionId | FlowId,
    notify: EndListener,
  ): { readonly isReady: Promise<void>; readonly stop: () => void }
}

/** What `look` answers once that is not undefined. It is given the latest news, and asked again after each. */
export async function waitForEnd<T>(
  source: EndSource,
  id: ExecutionId | FlowId,
  options: WaitOptions,
  look: (news: EndNews | undefined) => Promise<T | undefined>,
): Promise<T> {
  checkOptions(options, WAIT_KEYS, '{ signal: AbortSignal.timeout(5_000) }')
  const { signal } = options
  checkSignal(signal)
  let notify: () => void = () => undefined
  let changed = new Promise<void>((resolve) => (notify = resolve))
  let news: EndNews | undefined
  const watch = source.watchEnd(id, (latest) => {
    news = latest
    notify()
  })
  const onAbort = () => notify()
  signal?.addEventListener('abort', onAbort, { once: true })
  try {
    await watch.isReady
    for (;;) {
      if (signal?.aborted === true) throw new EngineError('aborted', {}, { cause: signal.reason })
      const ended = await look(news)
      if (ended !== undefined) return ended
      if (news instanceof EngineError) throw news
      await changed
      changed = new Promise((resolve) => (notify = resolve))
    }
  } finally {
    watch.stop()
    signal?.removeEventListener('abort', onAbort)
  }
}
