import { expect, test } from 'vitest'
import { SEPARATOR, isExecutionId, joinName, nameBefore, nameStart, taskClass, taskOfClass } from './names.ts'

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

test('a class names its task, and its version if it has one', () => {
  expect([taskClass('mail', undefined), taskClass('mail', 2)]).toEqual(['mail', joinName('mail', 'v2')])
  expect([taskOfClass('mail'), taskOfClass(taskClass('mail', 2))]).toEqual(['mail', 'mail'])
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
