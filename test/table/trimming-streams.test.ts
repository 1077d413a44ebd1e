import { describe, expect, test } from 'vitest'
import { FRAME_CHUNK_MAX, FRAME_MAX, FRAME_TOTAL_BYTES, FRAME_TRIM_COUNT } from '../../src/kernel/limits.ts'
import { frameChunkKey } from '../../src/kernel/model/blob-keys.ts'
import type { OperationInput, Tx } from '../../src/kernel/index.ts'
import { frameChunkId } from '../../src/kernel/rules/stream-ids.ts'
import { HeldPartition } from './held-partition.ts'
import { storedRecord, storedRecords } from './trials/memory.ts'
import { RETENTION_MS } from './trials/world.ts'

type Stream = NonNullable<ReturnType<Tx['get']>> & { readonly type: 'stream' }

const SIZE = 10
const frames = { blob: 0, size: SIZE, encoding: 'bytes' } as const

/** A holder whose stream has so many chunks of one frame each. */
class Streaming extends HeldPartition {
  #appends = 0

  constructor(chunkCount: number) {
    super()
    for (let i = 0; i < chunkCount; i++) this.append()
  }

  append(more: Partial<OperationInput<'appendFrames'>> = {}): void {
    this.#appends += 1
    const chunk = { count: 1, newCount: 1, frames }
    const result = this.run('appendFrames', { ...this.held, append: this.#appends, chunk, ...more })
    if (result.kind !== 'appended') throw new Error(result.kind)
  }

  get stream(): Stream {
    return storedRecord(this.world.memory, 'stream', this.held.executionId) as Stream
  }

  changeStream(fields: Partial<Stream>): void {
    this.write((tx) => tx.put({ ...this.stream, ...fields }))
  }

  /** The numbers of the chunks that are stored. */
  get chunks(): number[] {
    return Array.from({ length: this.stream.nextChunk - 1 }, (_, i) => i + 1).filter(
      (number) => storedRecord(this.world.memory, 'frame_chunk', frameChunkId(this.stream.id, number)) !== undefined,
    )
  }
}

test('a stream begins with its first frame', () => {
  const { stream } = new Streaming(1)

  expect(stream).toMatchObject({ first: 1, next: 2, firstChunk: 1, nextChunk: 2, size: SIZE, nextLive: 1 })
  expect(stream.writer).toEqual({ epoch: 1, append: 1, chunk: 1, base: 1 })
})

describe('a stream that has more than it keeps loses its oldest chunk', () => {
  test.each<[string, Partial<Stream>]>([
    ['in bytes', { size: FRAME_TOTAL_BYTES - SIZE }],
    ['in frames', { next: FRAME_MAX }],
    ['in chunks', { firstChunk: 2, nextChunk: FRAME_CHUNK_MAX + 1 }],
  ])('%s, and not before', (_what, fields) => {
    const streaming = new Streaming(3)
    streaming.changeStream(fields)
    const { firstChunk, size } = streaming.stream

    streaming.append()
    expect(streaming.stream).toMatchObject({ firstChunk, size: size + SIZE, first: 1 })
    streaming.append()
    expect(streaming.stream).toMatchObject({ firstChunk: firstChunk + 1, size: size + SIZE, first: firstChunk + 1 })
    expect(storedRecord(streaming.world.memory, 'frame_chunk', frameChunkId(streaming.stream.id, firstChunk))).toBe(
      undefined,
    )
  })

  test('a few with each append, and never the newest', () => {
    const streaming = new Streaming(FRAME_TRIM_COUNT + 4)
    streaming.changeStream({ size: 3 * FRAME_TOTAL_BYTES })

    streaming.append()
    expect(streaming.chunks).toEqual([9, 10, 11, 12, 13])
    streaming.append()
    expect(streaming.chunks).toEqual([14])
    expect(streaming.stream).toMatchObject({ firstChunk: 14, nextChunk: 15, first: 14, next: 15 })
  })

  test('also if a chunk was lost', () => {
    const streaming = new Streaming(3)
    streaming.write((tx) => tx.remove('frame_chunk', frameChunkId(streaming.stream.id, 1)))
    streaming.changeStream({ size: FRAME_TOTAL_BYTES + SIZE })

    streaming.append()

    expect(streaming.chunks).toEqual([4])
  })
})

test('a stream is removed with its execution, in as many calls as it takes, and nothing of it stays', () => {
  const streaming = new Streaming(130)
  const document = { blob: 0, size: 2, encoding: 'json' } as const
  streaming.append({ chunk: undefined, live: { count: 1, newCount: 1, frames }, summary: { from: 0, document } })
  const { memory } = streaming.world
  // A part of a chunk may be gone.
  streaming.write((tx) => {
    tx.remove('frame_chunk', frameChunkId(streaming.stream.id, 5))
    tx.forget(frameChunkKey(frameChunkId(streaming.stream.id, 5)))
  })
  streaming.run('completeExecution', streaming.held)
  streaming.advance(RETENTION_MS)

  let calls = 0
  const before = storedRecords(memory).length
  streaming.run('purgeExecutions', {})
  const first = before - storedRecords(memory).length
  while (storedRecords(memory).length > 0 && calls < 10) {
    streaming.run('purgeExecutions', {})
    calls += 1
  }

  expect([first > 60, calls <= 2, storedRecords(memory)]).toEqual([true, true, []])
  expect([...memory.blobs.keys()]).toEqual([])
})
