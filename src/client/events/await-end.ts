/** Waiting for an end: looks each time somebody says that it has come, and never misses one. */
import { optionKeys } from '../checks/exhaustive.ts'
import type { ExecutionId, FlowId } from '../../kernel/index.ts'
import { EngineError } from '../../kernel/engine-error.ts'
import type { EndListener, EndMoment, EndNews, EndWatch } from './end-watcher.ts'
import { checkOptions, checkSignal } from '../checks/names.ts'

export interface WaitOptions {
  readonly signal?: AbortSignal
}

const WAIT_KEYS = optionKeys<WaitOptions>()(['signal'])

/** Who tells of ends. */
export interface EndSource {
  /** @internal */
  watchEnd(id: ExecutionId | FlowId, notify: EndListener, since?: EndMoment): EndWatch
}

/** What spares a look, or lets it travel with the call that brings the end. */
export interface WaitHints {
  /** Executions that end last: when all of them are about to end, it is time to look. */
  readonly heralds?: readonly ExecutionId[] | undefined
  /** A moment before it existed. */
  readonly since?: EndMoment | undefined
}

/** What `look` answers once that is not undefined. It is given the latest news, and asked again after each. */
export async function waitForEnd<T>(
  source: EndSource,
  id: ExecutionId | FlowId,
  options: WaitOptions,
  look: (news: EndNews | undefined) => Promise<T | undefined>,
  hints: WaitHints = {},
): Promise<T> {
  checkOptions(options, WAIT_KEYS, '{ signal: AbortSignal.timeout(5_000) }')
  const { signal } = options
  checkSignal(signal)
  let notify: () => void = () => undefined
  let changed = new Promise<void>((resolve) => (notify = resolve))
  let news: EndNews | undefined
  /** Whether to look: in any case, or on the chance that it ends now. */
  const due = { isCertain: false, isChance: false }
  const hear = (latest: EndNews) => {
    if (latest === 'expected') due.isChance = true
    else {
      news = latest
      due.isCertain = true
    }
    notify()
  }
  const watch = source.watchEnd(id, hear, hints.since)
  due.isCertain ||= !watch.isUnended
  const stopHeralds = watchHeralds(source, hints.heralds ?? [], () => hear('expected'))
  const onAbort = () => notify()
  signal?.addEventListener('abort', onAbort, { once: true })
  try {
    await watch.isReady
    for (;;) {
      if (signal?.aborted === true) throw new EngineError('aborted', {}, { cause: signal.reason })
      const looked = due.isCertain ? look(news) : due.isChance ? onChance(look('expected')) : undefined
      due.isCertain = false
      due.isChance = false
      const ended = await looked
      if (ended !== undefined) return ended
      if (news instanceof EngineError) throw news
      await changed
      changed = new Promise((resolve) => (notify = resolve))
    }
  } finally {
    watch.stop()
    stopHeralds()
    signal?.removeEventListener('abort', onAbort)
  }
}

/** Nobody has said yet that it has ended, so nobody need hear that the store did not answer. */
async function onChance<T>(looked: Promise<T | undefined>): Promise<T | undefined> {
  try {
    return await looked
  } catch (error) {
    if (error instanceof EngineError && error.isRetryable) return undefined
    throw error
  }
}

/** Calls back once all of them are about to end. */
function watchHeralds(source: EndSource, heralds: readonly ExecutionId[], callback: () => void): () => void {
  const awaited = new Set(heralds)
  const watches = heralds.map((herald) =>
    source.watchEnd(herald, (news) => {
      if (news === 'expected' && awaited.delete(herald) && awaited.size === 0) callback()
    }),
  )
  return () => {
    for (const watch of watches) watch.stop()
  }
}
