import { expect, test } from 'vitest'
import { levelText } from './level-text.ts'

const holder = { processId: 'p-1', host: 'shop-3', pid: 4711, version: '0.1.0', levelMin: 1, levelMax: 1 }

test('a level that was raised, or would be, is printed with both numbers, and one that stays is not printed', () => {
  const levels = { from: 1, to: 2, heldBackBy: [] }
  expect(levelText({ kind: 'raised', ...levels })).toBe('Level 1 has become 2.')
  expect(levelText({ kind: 'pending', ...levels })).toBe('Level 1 would become 2.')
  expect(levelText({ kind: 'up_to_date', from: 2, to: 2, heldBackBy: [] })).toBe('')
})

test('the processes that hold a level back are listed with what to do about them', () => {
  const text = levelText({ kind: 'held_back', from: 1, to: 2, heldBackBy: [holder] })

  expect(text.split('\n').map((line) => line.trimEnd())).toEqual([
    'The level stays 1: these processes do not support level 2.',
    'PROCESS  HOST     PID  VERSION  LEVELS',
    'p-1      shop-3  4711  0.1.0    1 to 1',
    'Upgrade or stop them, then run the command again. A process that was killed is forgotten after 90 s.',
  ])
})

test('many processes that hold a level back are counted', () => {
  const heldBackBy = Array.from({ length: 25 }, (_, i) => ({ ...holder, processId: `p-${i}` }))

  const text = levelText({ kind: 'held_back', from: 1, to: 2, heldBackBy })

  expect(text).toContain('p-19')
  expect(text).not.toContain('p-20')
  expect(text).toContain('And 5 more: with --json every process is shown.')
})
