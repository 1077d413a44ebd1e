/** Log lines in the kernel, on every store: order, repetition, late lines, limits, lives and purge. */
import { expect, test } from 'vitest'
import { LOG_LINE_MAX, LOG_TOTAL_BYTES } from '../../src/kernel/index.ts'
import type { AppendLogLinesInput, ExecutionId } from '../../src/kernel/index.ts'
import type { TestFabric } from './fabric.ts'
import { LEASE_TTL_MS, RETENTION_MS, fixedRetry, forcedCancel, transientFailure } from './given.ts'
import type { Held } from './given.ts'
import { Writer, readAll } from './given-streams.ts'
import { conforms } from './harness.ts'

type Changes = Partial<Omit<AppendLogLinesInput, 'chunk'>> & { readonly extend?: number; readonly ageMs?: number }

/** Appends one line for each character of a text. `kept` are characters of the chunk that is extended. */
function append(fabric: TestFabric, held: Held, text: string, { extend, ageMs, ...changes }: Changes = {}, kept = '') {
  const all = kept + text
  const frames = { blob: 0, size: all.length, encoding: 'bytes' } as const
  const chunk = { extend, ageMs, count: all.length, newCount: text.length, frames }
  return fabric.run('appendLogLines', { ...held, append: 1, chunk, ...changes }, [Buffer.from(all)])
}

async function read(fabric: TestFabric, executionId: ExecutionId) {
  let text = ''
  for (let chunk = 1; ;) {
    const { result, blobs } = await fabric.reply('readLogLines', { executionId, chunk })
    if (result.kind === 'refused') throw new Error(result.code)
    for (const { framesBlob } of result.chunks) text += Buffer.from(blobs[framesBlob ?? -1]!).toString()
    if (!result.hasMore) return { text, page: result }
    chunk = result.nextChunk
  }
}

conforms('a log', ({ fabric, given, journal, clock }) => {
  test('has the lines of all appends in order, each once, and apart from frames', async () => {
    const held = await given.activeExecution()
    const first = await append(fabric, held, 'ab')
    const again = await append(fabric, held, 'ab')
    const more = await append(fabric, held, 'c', { append: 2, extend: 1 }, 'ab')
    await new Writer(fabric, held).write('xyz')

    expect([first, again, more]).toEqual([
      { kind: 'appended', chunk: 1 },
      { kind: 'already_appended', chunk: 1 },
      { kind: 'appended', chunk: 1 },
    ])
    expect((await read(fabric, held.executionId)).text).toBe('abc')
    expect(await readAll(fabric, held.executionId)).toBe('xyz')
  })

  test('refuses an append out of order, and a chunk of another holder', async () => {
    const held = await given.activeExecution({ retry: fixedRetry(2, 0) })
    await append(fabric, held, 'a')
    expect(await append(fabric, held, 'b', { append: 3 })).toMatchObject({ code: 'invalid_input' })
    await fabric.run('failExecution', { ...held, ...transientFailure })
    const next = await given.claimOf(held)

    expect(await append(fabric, next, 'b', { extend: 1 }, 'a')).toMatchObject({ code: 'invalid_input' })
    expect(await append(fabric, next, 'b')).toMatchObject({ kind: 'appended', chunk: 2 })
    expect((await read(fabric, held.executionId)).text).toBe('ab')
  })

  test('takes late lines of the last holder, until the next claim', async () => {
    const held = await given.activeExecution({ retry: fixedRetry(2, 0) })
    clock.advance(LEASE_TTL_MS)
    await fabric.duePass()
    expect(await append(fabric, held, 'lost ')).toMatchObject({ kind: 'appended' })
    const next = await given.claimOf(held)
    expect(await append(fabric, held, 'later', { append: 2 })).toMatchObject({ code: 'stale_lease' })
    await fabric.run('completeExecution', next)
    expect(await append(fabric, next, 'done')).toMatchObject({ kind: 'appended' })

    const { text, page } = await read(fabric, held.executionId)
    expect(text).toBe('lost done')
    expect(page.chunks.map(({ chunk }) => chunk.attempt)).toEqual([1, 2])
  })

  test('has the time at which the first line of a chunk was written', async () => {
    const held = await given.activeExecution()
    await append(fabric, held, 'a', { ageMs: 700 })

    const { page } = await read(fabric, held.executionId)
    expect(page.chunks[0]?.chunk.at).toBe(page.at - 700)
  })

  test('continues after a wait and after a replay', async () => {
    const held = await given.activeExecution()
    await append(fabric, held, 'a')
    await journal.wait(held, {})
    await append(fabric, held, 'b', { append: 2 })
    await journal.signal(held, 'reply')
    const resumed = await given.claimOf(held)
    await append(fabric, resumed, 'c')
    await fabric.run('completeExecution', resumed)
    const { executionId } = held
    await fabric.run('replayExecution', { executionId, requestId: given.requestId(), from: { kind: 'start' } })
    await append(fabric, await given.claimOf(held), 'd')

    expect((await read(fabric, executionId)).text).toBe('abcd')
  })

  test('begins anew when its execution is replaced, and takes no lines of the earlier one', async () => {
    const held = await given.activeExecution()
    const { executionId } = held
    await append(fabric, held, 'old')
    await fabric.run('completeExecution', held)
    await given.submit({ executionId, ifExists: 'replace' })
    expect(await append(fabric, held, 'late', { append: 2 })).toMatchObject({ code: 'stale_lease' })
    await append(fabric, await given.claimOf(held), 'new')

    expect((await read(fabric, executionId)).text).toBe('new')
    for (let i = 0; i < 5; i++) await fabric.duePass()
    const chunks = (await fabric.dump()).records.filter(({ type }) => type === 'frame_chunk')
    expect(chunks).toHaveLength(1)
  })

  test('keeps the newest lines, and no more than it may', async () => {
    const held = await given.activeExecution({}, { leaseTtlMs: 3_600_000 })
    for (let i = 0; i < 12; i++) await append(fabric, held, String.fromCharCode(97 + i).repeat(100), { append: i + 1 })

    const { text, page } = await read(fabric, held.executionId)
    expect([page.first, page.next, text.length]).toEqual([201, 1_201, LOG_LINE_MAX])
    const large = LOG_TOTAL_BYTES / 2 + 1
    await append(fabric, held, 'y'.repeat(large), { append: 13 })
    await append(fabric, held, 'z'.repeat(large), { append: 14 })
    for (let i = 0; i < 3; i++) await append(fabric, held, 'e', { append: 15 + i })
    expect((await read(fabric, held.executionId)).text.length).toBeLessThanOrEqual(LOG_TOTAL_BYTES)
  })

  test('is removed with its execution, with its frames or without', async () => {
    for (const hasFrames of [false, true]) {
      const held = await given.activeExecution()
      await append(fabric, held, 'abc')
      if (hasFrames) await new Writer(fabric, held).write('xyz')
      await fabric.run('cancelExecution', { executionId: held.executionId, ...forcedCancel })
    }
    clock.advance(RETENTION_MS)
    while ((await fabric.run('purgeExecutions', {})).next !== undefined);

    const { records, entries, blobKeys } = await fabric.dump()
    expect([records, entries, blobKeys]).toEqual([[], [], []])
  })

  test('wakes those who follow it', async () => {
    const held = await given.activeExecution()
    await fabric.untilListening()
    const grown: string[] = []
    const stop = fabric.store.onWake((wake) => grown.push(...(wake.grown ?? [])), { eventsOf: fabric.partition })
    await append(fabric, held, 'a')
    stop()

    expect(grown).toEqual([held.executionId])
  })
})
