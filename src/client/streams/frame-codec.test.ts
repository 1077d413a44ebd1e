import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { FramePacker, unpackFrames } from './frame-codec.ts'

const frame = fc.record({
  name: fc.string({ minLength: 1, maxLength: 20 }),
  encoding: fc.constantFrom('json', 'bytes'),
  value: fc.jsonValue(),
  bytes: fc.uint8Array({ maxLength: 300 }),
  delayMs: fc.nat(100_000_000),
  before: fc.nat(1_000_000),
})

describe('packed frames', () => {
  test.each([true, false])('are unpacked as they were, live: %j', (isLive) => {
    fc.assert(
      fc.property(fc.array(frame, { maxLength: 30 }), fc.nat(29), (frames, copyAt) => {
        let packer = new FramePacker(1_000)
        for (const [i, { name, encoding, value, bytes, delayMs, before }] of frames.entries()) {
          if (i === copyAt) {
            const copied = packer
            packer = packer.copy()
            copied.add({ name: 'other', encoding: 'json', bytes: Buffer.from('1') }, 0)
          }
          const packed = encoding === 'bytes' ? bytes : Buffer.from(JSON.stringify(value))
          packer.add({ name, encoding, bytes: packed }, 1_000 + delayMs, isLive ? before : undefined)
        }

        expect(packer.count).toBe(frames.length)
        expect(unpackFrames(packer.packed, packer.count, isLive)).toEqual(
          frames.map(({ name, encoding, value, bytes, delayMs, before }) => ({
            name,
            delayMs,
            before: isLive ? before : undefined,
            value: encoding === 'bytes' ? bytes : (JSON.parse(JSON.stringify(value)) as unknown),
          })),
        )
      }),
    )
  })

  test('of small texts take a few bytes beside the text', () => {
    const packer = new FramePacker(0)
    for (let i = 0; i < 100; i++) packer.add({ name: 'token', encoding: 'json', bytes: Buffer.from('"word"') }, i)

    expect(packer.size).toBeLessThanOrEqual(100 * (6 + 4) + 6)
  })

  test('that are damaged are refused, and never read beyond their end', () => {
    fc.assert(
      fc.property(
        fc.uint8Array({ maxLength: 200 }),
        fc.integer({ min: 1, max: 20 }),
        fc.boolean(),
        (bytes, count, isLive) => {
          try {
            expect(unpackFrames(bytes, count, isLive)).toHaveLength(count)
          } catch (error) {
            expect(error).toMatchObject({ code: 'corruption' })
          }
        },
      ),
    )
  })
})
