import { expect, test } from 'vitest'
import { SEPARATOR, isExecutionId, isFlowId, joinName, keptNames, nameBefore, nameStart } from './names.ts'

test('joined names keep their parts apart, because no part contains the separator', () => {
  expect(joinName('a', 'b')).toBe(`a${SEPARATOR}b`)
  expect(joinName('a b', 'c')).not.toBe(joinName('a', 'b c'))
})

test('a joined name can be taken apart at both ends', () => {
  const name = joinName(joinName('a', 'b'), 'c')

  expect([nameStart(name), nameBefore(name, 'c'), nameStart('alone')]).toEqual(['a', joinName('a', 'b'), 'alone'])
})

test('a first part may be empty', () => {
  expect(nameStart(joinName('', 'b'))).toBe('')
})

test('an execution id is a partition number, a dash, and more', () => {
  expect(['0-a', '9-a', '10-0198f7a2-0000', '0--'].filter(isExecutionId)).toEqual([
    '0-a',
    '9-a',
    '10-0198f7a2-0000',
    '0--',
  ])
  expect(['', '-', '-a', '0', '0-', 'f0-a', '0x-a', '/-a', ':-a', '0/-a', 'a'].filter(isExecutionId)).toEqual([])
})

test('the id of a flow begins with a letter', () => {
  expect(['f0-a', '0-a', '0-f'].map(isFlowId)).toEqual([true, false, false])
})

test('kept names are the names that would be made anew, however many there are', () => {
  let made = 0
  const kept = keptNames((first, second) => {
    made += 1
    return joinName(first, second)
  })

  expect([kept('a', 'b'), kept('a', 'c'), kept('b', 'b'), kept('a', 'b')]).toEqual([
    joinName('a', 'b'),
    joinName('a', 'c'),
    joinName('b', 'b'),
    joinName('a', 'b'),
  ])
  expect(made).toBe(3)
  for (let i = 0; i < 5_000; i++) expect(kept(`${i % 7}`, `${i}`)).toBe(joinName(`${i % 7}`, `${i}`))
  kept('0', '0')
  expect(made).toBe(5_004)
})
