import { expect, test } from 'vitest'
import { conforms } from './harness.ts'

conforms('appendFrames', ({ fabric, given }) => {
  const bytes = (text: string) => Buffer.from(text)
  const frames = (size: number) => ({ blob: 0, size, encoding: 'bytes' }) as const

  test('smoke', async () => {
    const held = await given.activeExecution()
    const r1 = await fabric.run('appendFrames', { ...held, append: 1, chunk: { count: 2, newCount: 2, frames: frames(2) } }, [bytes('ab')])
    expect(r1).toMatchObject({ kind: 'appended', next: 3, chunk: 1 })
    const r2 = await fabric.run('appendFrames', { ...held, append: 2, chunk: { extend: 1, count: 3, newCount: 1, frames: frames(3) } }, [bytes('abc')])
    expect(r2).toMatchObject({ kind: 'appended', next: 4, chunk: 1 })
    const again = await fabric.run('appendFrames', { ...held, append: 2, chunk: { extend: 1, count: 3, newCount: 1, frames: frames(3) } }, [bytes('abc')])
    expect(again).toMatchObject({ kind: 'already_appended', next: 4, chunk: 1 })
    const { result, blobs } = await fabric.reply('readFrames', { executionId: held.executionId, chunk: 1 })
    expect(result).toMatchObject({ kind: 'frames', first: 1, next: 4, nextChunk: 2, hasMore: false })
    expect(blobs.map((b) => Buffer.from(b).toString())).toEqual(['abc'])
  })
})
