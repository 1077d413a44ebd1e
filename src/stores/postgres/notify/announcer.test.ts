import { describe, expect, test } from 'vitest'
import type { ExecutionId } from '../../../kernel/index.ts'
import { silentLog, virtualRuntime } from '../../../runtime/index.ts'
import type { VirtualRuntime } from '../../../runtime/index.ts'
import { executionPartition } from '../../store.ts'
import type { Wake } from '../../store.ts'
import { Announcer } from './announcer.ts'
import { parsePayload } from './notify-payload.ts'

const PARTITIONS = [0, 1, 2, 3].map(executionPartition)

interface World {
  readonly runtime: VirtualRuntime
  readonly announcer: Announcer
  /** The wake-ups of each notice that was sent, and when. */
  readonly sent: { readonly at: number; readonly wakes: readonly Wake[] | undefined }[]
}

function world(reply: () => Promise<unknown> = () => Promise.resolve()): World {
  const runtime = virtualRuntime()
  const sent: World['sent'] = []
  const notify = (text: string) => {
    const notice = parsePayload(text, PARTITIONS)
    if (notice?.kind !== 'changed') throw new Error(`This is not what was announced: ${text}`)
    sent.push({ at: runtime.monotonic(), wakes: notice.wakes })
    return reply()
  }
  return { runtime, sent, announcer: new Announcer({ runtime, log: silentLog, sender: 'me', notify }) }
}

function wakeOf(number: number, changes: Partial<Wake> = {}): Wake {
  return { partition: executionPartition(number), ready: [], hasEvents: true, holdersOf: [], ...changes }
}

describe('an announcement', () => {
  test('goes out at once, together with the others of the same turn', async () => {
    const { announcer, runtime, sent } = world()

    announcer.announce(wakeOf(0))
    announcer.announce(wakeOf(2, { ready: ['a'] }))
    await runtime.advance(0)

    expect(sent).toEqual([{ at: 0, wakes: [wakeOf(0), wakeOf(2, { ready: ['a'] })] }])
  })

  test('waits for its turn behind an earlier one, and takes along what comes meanwhile', async () => {
    const { announcer, runtime, sent } = world()

    for (let i = 0; i < 50; i++) {
      announcer.announce(wakeOf(i % 2))
      await runtime.advance(1)
    }
    await runtime.advance(100)

    expect(sent.map(({ at }) => at)).toEqual([0, 20, 40, 60])
    expect(sent.map(({ wakes }) => wakes?.length)).toEqual([1, 2, 2, 2])
  })

  test('waits until the one before it was sent', async () => {
    const replies: ((value: undefined) => void)[] = []
    const { announcer, runtime, sent } = world(() => {
      const { promise, resolve } = Promise.withResolvers<undefined>()
      replies.push(resolve)
      return promise
    })

    announcer.announce(wakeOf(0))
    await runtime.advance(1)
    announcer.announce(wakeOf(1))
    await runtime.advance(70)
    expect(sent).toHaveLength(1)

    replies[0]?.(undefined)
    await runtime.advance(0)
    expect(sent.map(({ at }) => at)).toEqual([0, 71])
  })

  test('that cannot be sent is dropped, and the next one goes out', async () => {
    const { announcer, runtime, sent } = world(() => Promise.reject(new Error('The server is away.')))

    announcer.announce(wakeOf(0))
    await runtime.advance(20)
    announcer.announce(wakeOf(1))
    await runtime.advance(20)

    expect(sent.map(({ wakes }) => wakes)).toEqual([[wakeOf(0)], [wakeOf(1)]])
  })
})

describe('wake-ups of one partition', () => {
  async function merged(...wakes: readonly Wake[]): Promise<Wake | undefined> {
    const { announcer, runtime, sent } = world()
    for (const wake of wakes) announcer.announce(wake)
    await runtime.advance(0)
    expect(sent).toHaveLength(1)
    return sent[0]?.wakes?.[0]
  }

  test('become one that carries all of them', async () => {
    const [first, second] = ['0-a', '0-b'] as ExecutionId[]

    const wake = await merged(
      wakeOf(0, { ready: ['a', 'b'], dueAt: 70, hasEvents: false, holdersOf: [first!] }),
      wakeOf(0, { ready: ['b', 'c'], dueAt: 50, hasEvents: true, holdersOf: [second!] }),
      wakeOf(0, { hasEvents: false }),
    )

    expect(wake).toEqual(
      wakeOf(0, { ready: ['a', 'b', 'c'], dueAt: 50, hasEvents: true, holdersOf: [first, second] as ExecutionId[] }),
    )
  })

  test('that may mean anything still may together with others', async () => {
    const wake = await merged(wakeOf(0, { ready: undefined }), wakeOf(0, { ready: ['a'], holdersOf: undefined }))

    expect(wake).toEqual({ partition: executionPartition(0), hasEvents: true })
  })

  test('name nothing once there is too much to name', async () => {
    const wakes = Array.from({ length: 1_000 }, (_, i) => wakeOf(0, { ready: [`index-${i}`], dueAt: 1_000 - i }))

    expect(await merged(...wakes)).toEqual({
      partition: executionPartition(0),
      dueAt: 1,
      hasEvents: true,
      holdersOf: [],
    })
  })
})

describe('closing', () => {
  test('sends what still waits for its turn, and nothing that comes later', async () => {
    const { announcer, runtime, sent } = world()
    announcer.announce(wakeOf(0))
    await runtime.advance(1)
    announcer.announce(wakeOf(1))
    await runtime.advance(1)

    await announcer.close()
    announcer.announce(wakeOf(2))
    await runtime.advance(1_000)

    expect(sent.map(({ wakes }) => wakes)).toEqual([[wakeOf(0)], [wakeOf(1)]])
    expect(runtime.nextTimerAt()).toBeUndefined()
  })

  test('does not wait for long for a server that does not answer', async () => {
    const { announcer, runtime, sent } = world(() => new Promise(() => undefined))
    announcer.announce(wakeOf(0))
    await runtime.advance(1)
    announcer.announce(wakeOf(1))

    const closing = announcer.close()
    await runtime.advance(500)
    await closing

    expect(sent).toHaveLength(1)
    expect(runtime.nextTimerAt()).toBeUndefined()
  })
})
