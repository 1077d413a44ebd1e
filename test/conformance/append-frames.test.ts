/** Streams in the kernel, on every store: order, fences, repetition, limits, trimming, lives and purge. */
import { expect, test } from 'vitest'
import {
  FRAME_CHUNK_BYTES,
  FRAME_CHUNK_COUNT,
  FRAME_MAX,
  FRAME_TOTAL_BYTES,
  FRAME_TRIM_COUNT,
} from '../../src/kernel/index.ts'
import { LEASE_TTL_MS, RETENTION_MS, fixedRetry, forcedCancel, transientFailure } from './given.ts'
import { Writer, readAll, readPage } from './given-streams.ts'
import { conforms } from './harness.ts'

const PURGE_LIMIT = 100

conforms('a stream', ({ fabric, given, journal, clock }) => {
  test('has the frames of all appends in order, each once', async () => {
    const held = await given.activeExecution()
    const writer = new Writer(fabric, held)
    for (const text of ['a', 'bc', 'd', 'efg']) await writer.write(text)

    const { page, text } = await readPage(fabric, held.executionId)
    expect(text).toBe('abcdefg')
    expect(page).toMatchObject({ first: 1, next: 8, attempt: 1, isEnded: false, hasMore: false, nextChunk: 2 })
    expect(page.chunks).toMatchObject([{ chunk: { number: 1, attempt: 1, first: 1, count: 7, size: 7 } }])
  })

  test('of an execution that has written nothing is empty, and writes nothing into its record', async () => {
    const held = await given.activeExecution()

    expect((await readPage(fabric, held.executionId)).page).toMatchObject({ first: 1, next: 1, chunks: [] })
    expect((await fabric.look(held.executionId)).journal).toBeUndefined()
  })

  test('begins a chunk when the last one is full', async () => {
    const held = await given.activeExecution()
    const writer = new Writer(fabric, held)
    for (let i = 0; i < 3; i++) await writer.write('x'.repeat(FRAME_CHUNK_COUNT))
    await writer.write('y')

    const { page, text } = await readPage(fabric, held.executionId)
    expect(page.chunks.map(({ chunk }) => [chunk.number, chunk.first, chunk.count])).toEqual([
      [1, 1, FRAME_CHUNK_COUNT],
      [2, 1 + FRAME_CHUNK_COUNT, FRAME_CHUNK_COUNT],
      [3, 1 + 2 * FRAME_CHUNK_COUNT, FRAME_CHUNK_COUNT],
      [4, 1 + 3 * FRAME_CHUNK_COUNT, 1],
    ])
    expect(text).toHaveLength(3 * FRAME_CHUNK_COUNT + 1)
    expect((await readPage(fabric, held.executionId, 4)).text).toBe('y')
  })

  test('takes an append once, however often it is sent', async () => {
    const held = await given.activeExecution()
    const writer = new Writer(fabric, held)
    const [input, blobs] = writer.input('abc')
    const first = await fabric.run('appendFrames', input, blobs)
    const again = await fabric.run('appendFrames', input, blobs)
    const [, both] = await Promise.all([
      fabric.run('appendFrames', input, blobs),
      fabric.run('appendFrames', input, blobs),
    ])

    expect(first).toMatchObject({ kind: 'appended', next: 4, chunk: 1 })
    expect([again, both]).toMatchObject([
      { kind: 'already_appended', next: 4, chunk: 1 },
      { kind: 'already_appended', next: 4, chunk: 1 },
    ])
    expect(await readAll(fabric, held.executionId)).toBe('abc')
  })

  test('refuses an append out of order, and one that extends a chunk of another holder', async () => {
    const held = await given.activeExecution({ retry: fixedRetry(2, 0) })
    const writer = new Writer(fabric, held)
    await writer.write('ab')
    const [gap, bytes] = writer.input('c', { append: 3 })
    expect(await fabric.run('appendFrames', gap, bytes)).toMatchObject({ kind: 'refused', code: 'invalid_input' })
    await fabric.run('failExecution', { ...held, ...transientFailure })
    const next = new Writer(fabric, await given.claimOf(held))
    next.chunk = 1
    next.text = 'ab'

    expect(await next.write('c')).toMatchObject({ kind: 'refused', code: 'invalid_input' })
    expect(await readAll(fabric, held.executionId)).toBe('ab')
  })

  test('takes nothing from a holder whose lease is over, and everything from the next one', async () => {
    const held = await given.activeExecution({ retry: fixedRetry(2, 0) })
    const former = new Writer(fabric, held)
    await former.write('ab')
    clock.advance(LEASE_TTL_MS)
    expect(await former.write('x')).toMatchObject({ kind: 'refused', code: 'lease_expired' })
    await fabric.duePass()
    expect(await former.write('x')).toMatchObject({ kind: 'refused', code: 'lease_expired' })
    const next = new Writer(fabric, await given.claimOf(held))
    expect(await former.write('x')).toMatchObject({ kind: 'refused', code: 'stale_lease' })
    await next.write('cd')
    expect(await former.write('x')).toMatchObject({ kind: 'refused', code: 'stale_lease' })
    await fabric.run('completeExecution', next.held)
    expect(await next.write('x')).toMatchObject({ kind: 'refused', code: 'execution_not_active' })

    const { page, text } = await readPage(fabric, held.executionId)
    expect(text).toBe('abcd')
    expect(page.chunks.map(({ chunk }) => [chunk.attempt, chunk.first])).toEqual([
      [1, 1],
      [2, 3],
    ])
    expect(page).toMatchObject({ attempt: 2, isEnded: true })
  })

  test('continues in the same attempt after a wait', async () => {
    const held = await given.activeExecution()
    await new Writer(fabric, held).write('ab')
    await journal.wait(held, {})
    await journal.signal(held, 'reply')
    const next = new Writer(fabric, await given.claimOf(held))
    expect(await next.write('cd')).toMatchObject({ kind: 'appended', next: 5 })

    const { page } = await readPage(fabric, held.executionId)
    expect(page.chunks.map(({ chunk }) => [chunk.attempt, chunk.first, chunk.count])).toEqual([
      [1, 1, 2],
      [1, 3, 2],
    ])
  })

  test('continues after a replay', async () => {
    const held = await given.activeExecution()
    await new Writer(fabric, held).write('ab')
    await fabric.run('completeExecution', held)
    await fabric.run('replayExecution', {
      executionId: held.executionId,
      requestId: given.requestId(),
      from: { kind: 'start' },
    })
    await new Writer(fabric, await given.claimOf(held)).write('cd')

    expect(await readAll(fabric, held.executionId)).toBe('abcd')
  })

  test('begins anew when its execution is replaced, and the earlier one is removed', async () => {
    const held = await given.activeExecution()
    const { executionId } = held
    await new Writer(fabric, held).write('old')
    await fabric.run('completeExecution', held)
    const before = (await readPage(fabric, executionId)).page
    await given.submit({ executionId, ifExists: 'replace' })
    const next = new Writer(fabric, await given.claimOf(held))
    expect(await next.write('new')).toMatchObject({ next: 4 })

    const { page, text } = await readPage(fabric, executionId)
    expect(text).toBe('new')
    expect([page.life, page.createdAt]).not.toEqual([before.life, before.createdAt])
    for (let i = 0; i < 5; i++) await fabric.duePass()
    const chunks = (await fabric.dump()).records.filter(({ type }) => type === 'frame_chunk')
    expect(chunks).toHaveLength(1)
  })

  test('keeps the newest frames and says from where on', async () => {
    const held = await given.activeExecution({}, { leaseTtlMs: 3_600_000 })
    const writer = new Writer(fabric, held)
    const appends = FRAME_MAX / FRAME_CHUNK_COUNT + 20
    for (let i = 0; i < appends; i++) await writer.write(String.fromCharCode(97 + (i % 26)).repeat(FRAME_CHUNK_COUNT))

    const { page } = await readPage(fabric, held.executionId)
    expect(page.next).toBe(1 + Math.ceil(appends) * FRAME_CHUNK_COUNT)
    expect(page.next - page.first).toBeLessThanOrEqual(FRAME_MAX)
    expect(page.next - page.first).toBeGreaterThan(FRAME_MAX - FRAME_CHUNK_COUNT)
    expect(page.chunks[0]?.chunk.first).toBe(page.first)
    expect(await readAll(fabric, held.executionId)).toHaveLength(page.next - page.first)
  })

  test('keeps no more bytes than it may', async () => {
    const held = await given.activeExecution({}, { leaseTtlMs: 3_600_000 })
    const writer = new Writer(fabric, held)
    const size = 250_000
    const large = { count: 1, newCount: 1, frames: { blob: 0, size, encoding: 'bytes' } } as const
    const bytes = Buffer.alloc(size, 'x')
    for (let i = 0; i < FRAME_TOTAL_BYTES / size + 3; i++) {
      await fabric.run('appendFrames', { ...held, append: i + 1, chunk: large }, [bytes])
    }
    expect(writer.append).toBe(0)

    const { page } = await readPage(fabric, held.executionId)
    expect((page.next - page.first) * size).toBeLessThanOrEqual(FRAME_TOTAL_BYTES)
    expect(page.first).toBeGreaterThan(1)
    // A page is limited by its bytes.
    expect(page.chunks.length).toBeLessThan(5)
    expect(page.hasMore).toBe(true)
  })

  test('trims step by step what many small chunks have left', async () => {
    let held = await given.activeExecution({ retry: fixedRetry(60, 0) }, { leaseTtlMs: 3_600_000 })
    for (let i = 0; i < 2 * FRAME_TRIM_COUNT; i++) {
      await new Writer(fabric, held).write('s')
      await fabric.run('releaseExecution', { ...held, reason: 'next' })
      held = await given.claimOf(held, { leaseTtlMs: 3_600_000 })
    }
    const writer = new Writer(fabric, held)
    for (let i = 0; i < FRAME_MAX / 500 + 5; i++) {
      const count = 500
      const frames = { blob: 0, size: count, encoding: 'bytes' } as const
      const chunk = { count, newCount: count, frames }
      await fabric.run('appendFrames', { ...held, append: i + 1, chunk }, [Buffer.alloc(count, 'l')])
    }
    expect(writer.append).toBe(0)

    const { page } = await readPage(fabric, held.executionId)
    expect(page.next - page.first).toBeLessThanOrEqual(FRAME_MAX)
    expect(await readAll(fabric, held.executionId)).toBe('l'.repeat(page.next - page.first))
  })

  test('keeps live frames in a tail of their own, which displaces no durable frame', async () => {
    const held = await given.activeExecution({ retry: fixedRetry(2, 0) })
    const writer = new Writer(fabric, held)
    await writer.write('ab')
    await writer.writeLive('xyz', 3)
    await writer.writeLive('z1', 1)

    const { page, text, live } = await readPage(fabric, held.executionId)
    expect([text, live]).toEqual(['ab', 'z1'])
    expect(page).toMatchObject({ first: 1, next: 3, live: { attempt: 1, first: 3, count: 2, base: 1 } })
    const { result } = await fabric.reply('readFrames', { executionId: held.executionId, chunk: 1, liveAfter: 4 })
    expect(result).toMatchObject({ liveBlob: undefined })
    await fabric.run('failExecution', { ...held, ...transientFailure })
    await new Writer(fabric, await given.claimOf(held)).writeLive('n', 1)
    expect((await readPage(fabric, held.executionId)).page.live).toMatchObject({
      attempt: 2,
      first: 5,
      count: 1,
      base: 3,
    })
  })

  test('keeps one summary, compared by its version', async () => {
    const held = await given.activeExecution({ retry: fixedRetry(2, 0) })
    const writer = new Writer(fabric, held)
    expect(await writer.summarise(0, { stage: 1, list: [], empty: {}, nothing: null })).toMatchObject({
      summaryVersion: 1,
    })
    expect(await writer.summarise(0, { stage: 'stale' })).toEqual({ kind: 'summary_changed', version: 1 })
    expect(await writer.summarise(2, { stage: 'ahead' })).toEqual({ kind: 'summary_changed', version: 1 })
    const { summary, page } = await readPage(fabric, held.executionId)
    expect(summary).toEqual({ stage: 1, list: [], empty: {}, nothing: null })
    expect(page.summary).toMatchObject({ version: 1, attempt: 1 })
    await fabric.run('failExecution', { ...held, ...transientFailure })
    const next = new Writer(fabric, await given.claimOf(held))
    expect(await next.summarise(1, { stage: 2 })).toMatchObject({ kind: 'appended', summaryVersion: 2 })
    expect(await writer.summarise(2, { stage: 'late' })).toMatchObject({ kind: 'refused', code: 'stale_lease' })

    expect(await readPage(fabric, held.executionId)).toMatchObject({
      summary: { stage: 2 },
      page: { summary: { version: 2, attempt: 2 } },
    })
    const { result } = await fabric.reply('readFrames', { executionId: held.executionId, summaryAfter: 2 })
    expect(result).toMatchObject({ summaryBlob: undefined, chunks: [] })
  })

  test('is removed with its execution, in as many calls as it takes', async () => {
    let held = await given.activeExecution({ retry: fixedRetry(60, 0) }, { leaseTtlMs: 3_600_000 })
    for (let i = 0; i < 120; i++) {
      const writer = new Writer(fabric, held)
      await writer.write('s')
      if (i === 0) await writer.writeLive('l', 1)
      if (i === 0) await writer.summarise(0, { stage: 1 })
      await fabric.run('releaseExecution', { ...held, reason: 'next' })
      held = await given.claimOf(held, { leaseTtlMs: 3_600_000 })
    }
    await fabric.run('cancelExecution', { executionId: held.executionId, ...forcedCancel })
    clock.advance(RETENTION_MS)
    let calls = 1
    while (calls < PURGE_LIMIT && (await fabric.run('purgeExecutions', {})).next !== undefined) calls++

    expect(calls).toBeGreaterThan(1)
    const { records, entries, blobKeys } = await fabric.dump()
    expect([records, entries, blobKeys]).toEqual([[], [], []])
  })

  test('wakes those who follow it, in this process', async () => {
    const held = await given.activeExecution()
    await fabric.untilListening()
    const grown: string[] = []
    const stop = fabric.store.onWake((wake) => grown.push(...(wake.grown ?? [])), { eventsOf: fabric.partition })
    await new Writer(fabric, held).write('a')
    await journal.signal(held, '@go')
    stop()

    expect(grown).toEqual([held.executionId, held.executionId])
  })

  test('of frames that are as large as a chunk has a chunk for each append', async () => {
    const held = await given.activeExecution()
    const writer = new Writer(fabric, held)
    const size = FRAME_CHUNK_BYTES
    const chunk = { count: 1, newCount: 1, frames: { blob: 0, size, encoding: 'bytes' } } as const
    for (const append of [1, 2]) await fabric.run('appendFrames', { ...held, append, chunk }, [Buffer.alloc(size, 'x')])
    expect(writer.append).toBe(0)

    expect((await readPage(fabric, held.executionId)).page.chunks).toHaveLength(2)
  })
})
