import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { SEPARATOR, edgeId, isFlowId } from '../../../kernel/index.ts'
import { readName } from './id-bytes.ts'
import { nameBytes } from './keys.ts'

const uuid = fc.uuid({ version: [4, 7, 8] })
const partition = fc.oneof(fc.nat(12), fc.nat(1_023), fc.nat(99_999))
const executionId = fc.tuple(partition, uuid).map(([number, id]) => `${number}-${id}`)
const flowId = executionId.map((id) => `f${id}`)
const anyId = fc.oneof(executionId, flowId)

/** Texts that resemble ids without being any. */
const nearId = fc.oneof(
  uuid,
  executionId.map((id) => id.toUpperCase()),
  executionId.map((id) => id.slice(1)),
  executionId.map((id) => `${id}0`),
  executionId.map((id) => id.slice(0, -1)),
  executionId.map((id) => `g${id}`),
  executionId.map((id) => `1234567${id}`),
  executionId.map((id) => `é${id}`),
  executionId.map((id) => `${id.slice(0, -1)}é`),
  executionId.map((id) => id.replace(/-/g, '_')),
  fc.tuple(executionId, fc.nat(40)).map(([id, at]) => `${id.slice(0, at)}ǿ${id.slice(at + 1)}`),
)
const text = fc.oneof(fc.string({ unit: 'grapheme' }), fc.string({ unit: 'binary' }), nearId, anyId)
const name = fc.array(text, { maxLength: 5 }).map((parts) => parts.join(SEPARATOR).toWellFormed())
const idParts = fc.nat(3)

/** The order of the members of a sorted set with equal scores. */
function compareBytes(a: string, b: string, parts = 1): number {
  return Buffer.compare(nameBytes(a, parts), nameBytes(b, parts))
}

function compareTexts(a: string, b: string): number {
  return Math.sign(Number(a > b) - Number(a < b))
}

describe('names with ids as bytes', () => {
  test('are read as they were written, whatever they are', () => {
    fc.assert(
      fc.property(name, idParts, (one, parts) => {
        expect(readName(nameBytes(one, parts))).toBe(one)
      }),
      { numRuns: 2_000 },
    )
  })

  test('have bytes that no other name has', () => {
    fc.assert(
      fc.property(name, name, idParts, (one, other, parts) => {
        expect(nameBytes(one, parts).equals(nameBytes(other, parts))).toBe(one === other)
      }),
    )
  })

  test('are read behind other bytes', () => {
    fc.assert(
      fc.property(name, (one) => {
        expect(readName(Buffer.concat([Buffer.from('x5:'), nameBytes(one, 1)]), 3)).toBe(one)
      }),
    )
  })

  test('of executions and flows have the order of their texts', () => {
    fc.assert(
      fc.property(anyId, anyId, (a, b) => {
        expect(compareBytes(a, b)).toBe(compareTexts(a, b))
        expect(compareBytes(a, a)).toBe(0)
        expect(isFlowId(a) || !isFlowId(b) || compareBytes(a, b) < 0).toBe(true)
      }),
      { numRuns: 1_000 },
    )
  })

  test('of edges have the order of their texts', () => {
    fc.assert(
      fc.property(executionId, executionId, executionId, (from, a, b) => {
        expect(compareBytes(edgeId(from, a), edgeId(from, b), 2)).toBe(compareTexts(a, b))
        expect(compareBytes(edgeId(a, from), edgeId(b, from), 2)).toBe(compareTexts(a, b))
      }),
    )
  })

  test('of steps, waitpoints and signals have the order of their texts, also where a part looks like an id', () => {
    const ascii = fc.oneof(fc.string({ unit: 'grapheme-ascii' }), anyId)
    const rest = fc.array(ascii, { minLength: 1, maxLength: 3 }).map((parts) => parts.join(SEPARATOR))
    fc.assert(
      fc.property(executionId, executionId, rest, rest, (one, other, a, b) => {
        for (const [first, second] of [
          [one + SEPARATOR + a, one + SEPARATOR + b],
          [one + SEPARATOR + a, other + SEPARATOR + b],
        ] as const) {
          expect(compareBytes(first, second)).toBe(compareTexts(first, second))
        }
      }),
      { numRuns: 1_000 },
    )
  })

  test('that hold texts only have the order of their texts', () => {
    const lane = fc.array(fc.oneof(fc.string({ unit: 'grapheme-ascii' }), anyId)).map((parts) => parts.join(SEPARATOR))
    fc.assert(
      fc.property(lane, lane, (a, b) => {
        expect(compareBytes(a, b, 0)).toBe(compareTexts(a, b))
      }),
    )
  })

  const ID = '0190a6e0-5c2a-7b10-8f00-0123456789ab'
  const BYTES = '0190a6e05c2a7b108f000123456789ab'
  test.each([
    ['an execution', `4-${ID}`, 1, `342dff${BYTES}`],
    ['a flow', `f12-${ID}`, 1, `6631322dff${BYTES}`],
    ['an edge', `4-${ID}${SEPARATOR}4-${ID}`, 2, `342dff${BYTES}1f342dff${BYTES}`],
    ['a step', `4-${ID}${SEPARATOR}call${SEPARATOR}a`, 1, `342dff${BYTES}1f63616c6c1f61`],
    ['an index', `members${SEPARATOR}f4-${ID}`, 2, `6d656d626572731f66342dff${BYTES}`],
    ['another id with more behind it', `4-${ID}-1`, 1, Buffer.from(`4-${ID}-1`).toString('hex')],
  ])('are small: %s', (_, one, parts, hex) => {
    expect(nameBytes(one, parts).toString('hex')).toBe(hex)
  })

  test('with any bytes of another program are read as something', () => {
    fc.assert(
      fc.property(fc.uint8Array(), (bytes) => {
        expect(typeof readName(Buffer.from(bytes))).toBe('string')
      }),
    )
    expect(readName(Buffer.from('342dff01', 'hex'))).toBe('4-\ufffd\u0001')
  })
})
