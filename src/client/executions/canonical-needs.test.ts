import { expect, test } from 'vitest'
import { NEEDS_BYTES, NEED_COUNT_MAX, parseClass } from '../../kernel/index.ts'
import { checkNeeds } from '../checks/needs.ts'
import { canonicalList, classWithNeeds } from './canonical-needs.ts'

const render = { name: 'render', version: 2 }

test('needs are stored without duplicates and in order', () => {
  expect(canonicalList(['region:eu', 'gpu', 'gpu'], 'needs')).toEqual(['gpu', 'region:eu'])
})

test.each(['gpu', 'region:eu', 'GPU', 'größe', '\u{1f600}', '#1', '@', '='])('%j is a need', (need) => {
  expect(checkNeeds([need], 'needs')).toEqual([need])
})

test.each([[''], [' '], ['a b'], ['a,b'], ['a\tb'], ['\u007f'], ['\u001f'], ['\ud800'], [1], [null]])(
  '%j is no need',
  (need) => {
    expect(() => checkNeeds([need], 'needs')).toThrow('needs contains')
  },
)

test('a text instead of a list is refused', () => {
  expect(() => checkNeeds('gpu', 'capabilities')).toThrow('capabilities is "gpu", but must be a list.')
})

test('needs have a limited number, without duplicates', () => {
  const most = Array.from({ length: NEED_COUNT_MAX }, (_, i) => `n${i}`)

  expect(canonicalList([...most, 'n0'], 'needs')).toHaveLength(NEED_COUNT_MAX)
  expect(() => canonicalList([...most, 'more'], 'needs')).toThrow('needs has 257 entries, but at most 256 are allowed.')
})

test('needs have a limited size in bytes, with their separators', () => {
  const most = ['ä'.repeat(1_023), 'b'.repeat(2_049)]

  expect(canonicalList(most, 'needs')).toHaveLength(2)
  expect(() => canonicalList([...most, 'c'], 'needs')).toThrow(`at most ${NEEDS_BYTES} are allowed`)
})

test('a class contains short needs, and a digest of long ones', () => {
  const long = ['x'.repeat(256), 'y'.repeat(256)]

  expect(parseClass(classWithNeeds(render, 'acme', ['gpu', 'region:eu']))).toEqual({
    task: 'render',
    version: 2,
    namespace: 'acme',
    needs: { text: 'gpu,region:eu', isDigest: false },
  })
  expect(parseClass(classWithNeeds(render, 'default', long)).needs).toMatchObject({ isDigest: true })
  expect(classWithNeeds(render, 'default', long)).not.toBe(classWithNeeds(render, 'default', [...long, 'z']))
  expect(classWithNeeds(render, 'default', ['x'.repeat(512)])).toContain('x'.repeat(512))
})
