import { expect, test } from 'vitest'
import { joinName } from './names.ts'
import { fairClass, isFairClass, isRouted, needsStart, parseClass, taskClass, taskOfClass } from './task-class.ts'

const needs = { text: 'gpu,region:eu', isDigest: false }
const digest = { text: 'Zm9v', isDigest: true }

test('a class names its task, and its version if it has one', () => {
  expect([taskClass('mail', undefined), taskClass('mail', 2)]).toEqual(['mail', joinName('mail', 'v2')])
  expect([taskOfClass('mail'), taskOfClass(taskClass('mail', 2, { needs }))]).toEqual(['mail', 'mail'])
})

test('the default namespace is not part of a class', () => {
  expect(taskClass('mail', 1, { namespace: 'default' })).toBe(taskClass('mail', 1))
})

test.each([
  { task: 'mail', version: undefined, namespace: 'default', needs: undefined },
  { task: 'mail', version: 12, namespace: 'default', needs: undefined },
  { task: 'n@v', version: undefined, namespace: 'v1', needs },
  { task: 'v1', version: 3, namespace: 'nope', needs: digest },
])('a class can be parsed: %o', (parts) => {
  expect(parseClass(taskClass(parts.task, parts.version, parts))).toEqual(parts)
})

test('a class with a namespace or needs is routed', () => {
  const classes = [{}, { namespace: 'acme' }, { needs }].map((route) => taskClass('mail', 1, route))

  expect(classes.map(isRouted)).toEqual([false, true, true])
})

test('a class whose executions take turns ends so, and is routed', () => {
  const fair = fairClass(taskClass('mail', 1, { needs }))

  expect([isFairClass(fair), isRouted(fairClass('mail')), parseClass(fair).task]).toEqual([true, true, 'mail'])
  expect([isFairClass('mail'), isFairClass(taskClass('fair', 1, { needs }))]).toEqual([false, false])
})

test('all classes with needs of one task and namespace have the same start, and no other class has it', () => {
  const start = needsStart(taskClass('mail', 1, { needs }))
  const classes = [
    taskClass('mail', undefined, { needs }),
    taskClass('mail', 7, { needs: digest }),
    taskClass('mail', 7),
    taskClass('mail', 7, { namespace: 'acme', needs }),
    taskClass('mailer', 7, { needs }),
  ]

  expect(classes.map((name) => name.startsWith(start))).toEqual([true, true, false, false, false])
})

test('the start of classes with needs names their namespace', () => {
  const start = needsStart(taskClass('mail', 1, { namespace: 'acme', needs }))

  expect(
    [{ namespace: 'acme', needs: digest }, { needs }].map((route) => taskClass('mail', 2, route).startsWith(start)),
  ).toEqual([true, false])
})

test('parts of a class that a later version may add are ignored', () => {
  expect(parseClass(joinName('mail', '?7'))).toMatchObject({ task: 'mail', version: undefined })
})
