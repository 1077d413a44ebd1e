import { expect, test } from 'vitest'
import type { ExecutionId } from '../../kernel/index.ts'
import { virtualRuntime } from '../../runtime/index.ts'
import type { EventPage, Store, Wake } from '../../stores/store.ts'
import { EndWatcher } from './end-watcher.ts'
import type { EndNews } from './end-watcher.ts'

const PARTITION = 'fp:0'
const mine = '0-00000000-0000-7000-8000-000000000001' as ExecutionId
const other = '0-00000000-0000-7000-8000-000000000002' as ExecutionId

/** A log without events to read: all its growth is announced. */
function createWatcher() {
  const runtime = virtualRuntime()
  const page = { events: [], firstSequence: 1, lastSequence: 0 }
  let listener: (wake: Wake) => void = () => undefined
  const store: Pick<Store, 'readEvents' | 'onWake'> = {
    readEvents: (): Promise<EventPage> => Promise.resolve({ ...page }),
    onWake: (heard) => {
      listener = heard
      return () => undefined
    },
  }
  const watcher = new EndWatcher(store as Store, runtime)
  let sequence = 0
  const end = (...ended: string[]) => {
    sequence += 1
    listener({ partition: PARTITION, hasEvents: true, growth: { first: sequence, last: sequence, at: 0, ended } })
  }
  const trim = async () => {
    page.firstSequence = 1_000_000
    page.lastSequence = 999_999
    listener({ partition: PARTITION, hasEvents: true })
    await runtime.advance(0)
  }
  return { watcher, end, trim }
}

/** Registers a waiter, so that the log is followed. */
async function follow(watcher: EndWatcher): Promise<void> {
  await watcher.watch(other, () => undefined).isReady
  await Promise.resolve()
}

test('a log without waiters has no moment', async () => {
  const { watcher } = createWatcher()
  expect(watcher.momentIn(PARTITION)).toBeUndefined()
  await follow(watcher)
  expect(watcher.momentIn(PARTITION)).toBeDefined()
  watcher.close()
  expect(watcher.momentIn(PARTITION)).toBeUndefined()
})

test('an execution created after a moment and not reported since is unended', async () => {
  const { watcher, end } = createWatcher()
  await follow(watcher)
  end(mine)
  const since = watcher.momentIn(PARTITION)
  end(other)

  expect(watcher.watch(mine, () => undefined, since).isUnended).toBe(true)
  expect(watcher.watch(mine, () => undefined).isUnended).toBe(false)
  end(mine)
  expect(watcher.watch(mine, () => undefined, since).isUnended).toBe(false)
})

test('an end that is no longer remembered may have been one of many', async () => {
  const { watcher, end } = createWatcher()
  await follow(watcher)
  const since = watcher.momentIn(PARTITION)
  end(...Array.from({ length: 1_000 }, (_, i) => `other-${i}`))
  expect(watcher.watch(mine, () => undefined, since).isUnended).toBe(true)
  end('one-more')
  expect(watcher.watch(mine, () => undefined, since).isUnended).toBe(false)
})

test('an end may have been among events that were lost', async () => {
  const { watcher, trim } = createWatcher()
  await follow(watcher)
  const since = watcher.momentIn(PARTITION)
  await trim()
  expect(watcher.watch(mine, () => undefined, since).isUnended).toBe(false)
  expect(watcher.watch(mine, () => undefined, watcher.momentIn(PARTITION)).isUnended).toBe(true)
})

test('a moment of a log that was left means nothing to one who follows it again', async () => {
  const { watcher } = createWatcher()
  await follow(watcher)
  const since = watcher.momentIn(PARTITION)
  watcher.close()
  await follow(watcher)
  expect(watcher.watch(mine, () => undefined, since).isUnended).toBe(false)
})

test('an expected end is reported to its own waiters only', async () => {
  const { watcher } = createWatcher()
  await follow(watcher)
  const heard: EndNews[] = []
  const { stop } = watcher.watch(mine, (news) => heard.push(news))
  watcher.expect(PARTITION, other)
  watcher.expect('fp:7', mine)
  watcher.expect(PARTITION, mine)
  stop()
  watcher.expect(PARTITION, mine)
  expect(heard).toEqual(['expected'])
})
