import path from 'node:path'
import { expect, test } from 'vitest'
import { root } from './run.ts'
import { describeFailures } from './suite-reporter.ts'

const stacks = [{ method: '', file: path.join(root, 'test/a.test.ts'), line: 3, column: 5 }]

test('a failure is described by its message, its place and the lines that differ', () => {
  const diff = ['- Expected', '+ Received', '', '  [', '\u001B[31m-   "b",\u001B[39m', '+   "c",', '  ]'].join('\n')

  const text = describeFailures([
    { name: 'AssertionError', message: 'expected [ …(1) ] to equal [ …(1) ]', stacks, diff },
  ])

  expect(text.split('\n')).toEqual([
    'AssertionError: expected [ …(1) ] to equal [ …(1) ]',
    'at test/a.test.ts:3:5',
    '-   "b",',
    '+   "c",',
  ])
})

test('a failure is described with its cause, and long texts are cut', () => {
  const cause = { name: 'TypeError', message: 'no such field\nand more' }

  const text = describeFailures([{ message: `${'x'.repeat(1_000)}\n2\n3\n4\n5`, cause }, { message: 'another' }])

  expect(text.split('\n')).toEqual([
    `Error: ${'x'.repeat(493)}…`,
    '2',
    '3',
    '4',
    'TypeError: no such field',
    'Error: another',
  ])
})

test('the time-out of a browser is described with its call log, of which the middle may be left out', () => {
  const log = Array.from({ length: 30 }, (_, i) => `\u001B[2m  - retry ${i + 1}\u001B[22m`)
  const message = ['locator.click: Timeout 60000ms exceeded.', 'Call log:', ...log, ''].join('\n')

  const lines = describeFailures([{ name: 'TimeoutError', message, stacks }]).split('\n')

  expect(lines).toEqual([
    'TimeoutError: locator.click: Timeout 60000ms exceeded.',
    'Call log:',
    '  - retry 1',
    '  (6 lines are left out)',
    ...Array.from({ length: 23 }, (_, i) => `  - retry ${i + 8}`),
    'at test/a.test.ts:3:5',
  ])
})
