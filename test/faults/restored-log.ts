/** A store that goes back to an earlier state while a subscription and a consumer have read further: both notice, and go over it again. */
import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'vitest'
import { task } from '../../src/client/index.ts'
import type { ConsumerGap } from '../../src/client/consumers/consumer-options.ts'
import { createFabric } from '../../src/fabric/index.ts'
import type { Fabric } from '../../src/fabric/index.ts'
import { silentLog } from '../../src/runtime/index.ts'

const plain = task<string, string>('plain')
const KEPT = 3
const LOST = 5
const LIMIT_MS = 60_000

async function submit(fabric: Fabric, name: string, count: number): Promise<void> {
  for (let number = 0; number < count; number++) await fabric.submit(plain, name, { id: `${name} ${number}` })
}

/** What a subscription yields up to the present end of the log: ids of executions, and other items by kind. */
async function read(fabric: Fabric, from: { readonly cursor: string } | { readonly fromStart: true }) {
  const seen: string[] = []
  let cursor = ''
  for await (const item of fabric.subscribe({ ...from, task: 'plain', follow: false })) {
    seen.push(item.kind === 'event' ? item.event.executionId : item.kind)
    cursor = item.cursor
  }
  return { seen, cursor }
}

/** Runs a consumer until it has handled so many events. */
async function consume(fabric: Fabric, count: number) {
  const handled: string[] = []
  const gaps: ConsumerGap['kind'][] = []
  const done = Promise.withResolvers<undefined>()
  const options = { fromStart: true, onGap: ({ kind }: ConsumerGap) => gaps.push(kind) } as const
  await using _consumer = await fabric.consume(
    'audit',
    { task: 'plain' },
    ({ executionId }) => {
      if (handled.push(executionId) === count) done.resolve(undefined)
    },
    options,
  )
  await Promise.race([done.promise, sleep(LIMIT_MS, undefined, { ref: false })])
  return { handled, gaps }
}

/**
 * `save` keeps a state of the store, and `restore` goes back to it; no process uses the store meanwhile. `regrowth` is how many
 * executions follow: with more than were lost, the log has an event again where the readers were.
 */
export async function checkRestoredLog(
  location: string,
  regrowth: number,
  { save, restore }: { readonly save: () => Promise<unknown>; readonly restore: () => Promise<unknown> },
): Promise<void> {
  const ids: string[] = []
  let cursor: string
  let end: string
  {
    await using fabric = await createFabric(location, { log: silentLog })
    await submit(fabric, 'kept', KEPT)
  }
  await save()
  {
    await using fabric = await createFabric(location, { log: silentLog })
    await submit(fabric, 'lost', LOST)
    const before = await read(fabric, { fromStart: true })
    expect(before.seen).toHaveLength(KEPT + LOST)
    ids.push(...before.seen.slice(0, KEPT))
    cursor = before.cursor
    // A place that no event was read at.
    end = await fabric.currentCursor()
    expect((await consume(fabric, KEPT + LOST)).handled).toEqual(before.seen)
  }
  await restore()
  {
    await using fabric = await createFabric(location, { log: silentLog })
    await submit(fabric, 'new', regrowth)
    const after = await read(fabric, { cursor })
    expect(after.seen[0]).toBe('log_replaced')
    expect(after.seen.filter((one) => one === 'log_replaced')).toHaveLength(1)
    expect(after.seen.slice(1, 1 + KEPT)).toEqual(ids)
    expect(after.seen).toHaveLength(1 + KEPT + regrowth)
    expect((await read(fabric, { cursor: after.cursor })).seen).toEqual([])

    expect((await read(fabric, { cursor: end })).seen).toEqual(after.seen)

    // A consumer is part of the store, so it went back along with it, to a place that is the same in both logs.
    const again = await consume(fabric, KEPT + regrowth)
    expect(again.handled).toEqual(after.seen.slice(1))
  }
}
