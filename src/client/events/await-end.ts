/** Waits for the end of an execution or a flow: reads the record after each notification, and misses none. */
import { shape } from '../../options/shape.ts'
import type { ExecutionId, FlowId } from '../../kernel/index.ts'
import { EngineError } from '../../kernel/engine-error.ts'
import type { EndListener, EndMoment, EndNews, EndWatch } from './end-watcher.ts'
import { checkSignal } from '../checks/names.ts'

export interface WaitOptions {
  readonly signal?: AbortSignal
}

const waitOptions = shape<WaitOptions>()('{ signal: AbortSignal.timeout(5_000) }', { signal: checkSignal })

/** Notifies of ends. */
export interface EndSource {
  /** @internal */
  watchEnd(id: ExecutionId | FlowId, notify: EndListener, since?: EndMoment): EndWatch
}

/** Hints that save a read, or let it share the batch of the call that ends the flow. */
export interface WaitHints {
  /** The executions that end last: once all of them are about to end, the record is read. */
  readonly lastMembers?: readonly ExecutionId[] | undefined
  /** A point before the execution or flow existed. */
  readonly since?: EndMoment | undefined
}

/** Calls `look` with the latest news until it returns a value other than undefined. */
export async function waitForEnd<T>(
  source: EndSource,
  id: ExecutionId | FlowId,
  options: WaitOptions,
  look: (news: EndNews | undefined) => Promise<T | undefined>,
  hints: WaitHints = {},
): Promise<T> {
  const { signal } = waitOptions(options)
  let notify: () => void = () => undefined
  let changed = new Promise<void>((resolve) => (notify = resolve))
  let news: EndNews | undefined
  /** Whether to read now: certainly, or speculatively because the end is expected. */
  const due = { isCertain: false, isSpeculative: false }
  const onNews = (latest: EndNews) => {
    if (latest === 'expected') due.isSpeculative = true
    else {
      news = latest
      due.isCertain = true
    }
    notify()
  }
  const watch = source.watchEnd(id, onNews, hints.since)
  due.isCertain ||= !watch.isUnended
  const stopLast = watchLastMembers(source, hints.lastMembers ?? [], () => onNews('expected'))
  const onAbort = () => notify()
  signal?.addEventListener('abort', onAbort, { once: true })
  try {
    await watch.isReady
    for (;;) {
      if (signal?.aborted === true) throw new EngineError('aborted', {}, { cause: signal.reason })
      const looked = due.isCertain ? look(news) : due.isSpeculative ? ignoreUnavailable(look('expected')) : undefined
      due.isCertain = false
      due.isSpeculative = false
      const ended = await looked
      if (ended !== undefined) return ended
      if (news instanceof EngineError) throw news
      await changed
      changed = new Promise((resolve) => (notify = resolve))
    }
  } finally {
    watch.stop()
    stopLast()
    signal?.removeEventListener('abort', onAbort)
  }
}

/** Ignores a retryable failure of a speculative read: the end has not been reported yet. */
async function ignoreUnavailable<T>(looked: Promise<T | undefined>): Promise<T | undefined> {
  try {
    return await looked
  } catch (error) {
    if (error instanceof EngineError && error.isRetryable) return undefined
    throw error
  }
}

/** Calls back once all members are about to end. */
function watchLastMembers(source: EndSource, members: readonly ExecutionId[], callback: () => void): () => void {
  const awaited = new Set(members)
  const watches = members.map((member) =>
    source.watchEnd(member, (news) => {
      if (news === 'expected' && awaited.delete(member) && awaited.size === 0) callback()
    }),
  )
  return () => {
    for (const watch of watches) watch.stop()
  }
}
