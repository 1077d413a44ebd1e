import { describe, expect, test } from 'vitest'
import {
  KEY_BYTES,
  LANE_BYTES,
  NAME_BYTES,
  PRIORITY_MAX,
  REASON_BYTES,
  TAG_COUNT_MAX,
  TAG_VALUE_BYTES,
} from '../../kernel/index.ts'
import {
  checkKey,
  checkLane,
  checkNamespace,
  checkObject,
  checkPriority,
  checkReason,
  checkTagName,
  checkTagObject,
  checkTagQuery,
  checkTags,
  checkTaskName,
  checkWorkerId,
  show,
  tagsToObject,
} from './names.ts'

describe('names of lanes, tasks, namespaces and workers', () => {
  test.each(['default', 'a', 'image.resize', 'eu-west/1', 'two words', '~!@#$%^&*()'])('%j is a name', (name) => {
    for (const check of [checkLane, checkTaskName, checkNamespace, checkWorkerId]) expect(check(name)).toBe(name)
  })

  test.each(['', ' ', ' a', 'a ', 'tab\there', 'line\nbreak', 'separator\u001fhere', 'ümlaut', 7, undefined, null])(
    '%j is none, and the error names the field',
    (name) => {
      expect(() => checkLane(name)).toThrow(/lane is .* printable ASCII/)
      expect(() => checkTaskName(name, 'task name')).toThrow('task name is')
    },
  )

  test('they have a longest length', () => {
    expect(checkLane('x'.repeat(LANE_BYTES))).toHaveLength(LANE_BYTES)
    expect(() => checkLane('x'.repeat(LANE_BYTES + 1))).toThrow(`1 to ${LANE_BYTES}`)
    expect(() => checkTaskName('x'.repeat(NAME_BYTES + 1))).toThrow(`1 to ${NAME_BYTES}`)
  })
})

test('a key may be any text without control characters, counted in bytes', () => {
  expect(checkKey('größe: 7 · 文')).toBe('größe: 7 · 文')
  expect(checkKey('ü'.repeat(KEY_BYTES / 2))).toHaveLength(KEY_BYTES / 2)
  expect(() => checkKey('ü'.repeat(KEY_BYTES / 2 + 1))).toThrow(`${KEY_BYTES} bytes`)
  for (const key of ['', 'a\u0000', 'a\u001fb', '\ud800', 7]) expect(() => checkKey(key)).toThrow('id is')
})

test('a reason may be empty but not endless', () => {
  expect(checkReason('')).toBe('')
  expect(checkReason('x'.repeat(REASON_BYTES))).toHaveLength(REASON_BYTES)
  expect(() => checkReason('x'.repeat(REASON_BYTES + 1))).toThrow('must be a text of at most')
  expect(() => checkReason(7, 'why')).toThrow('why is 7, but must be')
})

test.each([-1, PRIORITY_MAX + 1, 1.5, Number.NaN, '1', undefined])('%j is no priority', (priority) => {
  expect(() => checkPriority(priority)).toThrow(`0 to ${PRIORITY_MAX}`)
})

test('the lowest and the highest priority are priorities', () => {
  expect([checkPriority(0), checkPriority(PRIORITY_MAX)]).toEqual([0, PRIORITY_MAX])
})

test.each<[string, (value: unknown) => unknown]>([
  ['lane', checkLane],
  ['task', checkTaskName],
  ['namespace', checkNamespace],
  ['workerId', checkWorkerId],
  ['id', checkKey],
  ['reason', checkReason],
  ['priority', checkPriority],
  ['tags', checkTagName],
  ['tag', (name) => checkTagQuery({ name, value: 'x' }, 'query')],
])('an error names the field %s, unless the caller names another', (field, check) => {
  expect(() => check({})).toThrow(
    expect.objectContaining({ detail: expect.objectContaining({ field }) as object }) as Error,
  )
})

test.each([null, undefined, 7, 'text', [{}]])('%j is no object', (value) => {
  expect(() => checkObject(value, 'options', '{ a: 1 }')).toThrow('options is')
})

test('an object of any kind is one', () => {
  for (const value of [{}, new Map(), Object.create(null)])
    expect(() => checkObject(value, 'options', '{}')).not.toThrow()
})

describe('tags', () => {
  test('are kept in the order of their names, each marked if the store indexes it', () => {
    expect(checkTags({ plan: 'pro', city: 'Łódź' }, ['plan'])).toEqual([
      { name: 'city', value: 'Łódź', indexed: false },
      { name: 'plan', value: 'pro', indexed: true },
    ])
    expect(checkTags(undefined, [])).toEqual([])
    expect(checkTags({ b: '', c: '', a: '' }, []).map(({ name }) => name)).toEqual(['a', 'b', 'c'])
  })

  test('go back into an object', () => {
    expect(tagsToObject(checkTags({ b: '2', a: '1' }, []))).toEqual({ a: '1', b: '2' })
  })

  test.each(['Plan', '1st', '', 'two words', 'x'.repeat(65), 'ü'])('%j is no name of a tag', (name) => {
    expect(() => checkTags({ [name]: 'x' }, [])).toThrow("a tag's name must begin with a-z")
  })

  test('may come in an object without a prototype', () => {
    const tags = Object.assign(Object.create(null) as object, { plan: 'pro' })

    expect(checkTags(tags, [])).toEqual([{ name: 'plan', value: 'pro', indexed: false }])
  })

  test('have names of text', () => {
    expect(() => checkTagName(['plan'])).toThrow("a tag's name must begin with a-z")
    expect(() => checkTagObject(undefined)).toThrow('tags must be an object')
  })

  test('have values of text with a longest length', () => {
    expect(() => checkTags({ plan: 7 }, [])).toThrow('tags.plan is 7')
    expect(() => checkTags({ plan: 'x'.repeat(TAG_VALUE_BYTES + 1) }, [])).toThrow(`${TAG_VALUE_BYTES} bytes`)
    expect(() => checkTags({ plan: 'a\u001fb' }, [])).toThrow('control characters')
  })

  test('are not too many and not something else', () => {
    const many = Object.fromEntries(Array.from({ length: TAG_COUNT_MAX + 1 }, (_, i) => [`t${i}`, 'x']))
    expect(() => checkTags(many, [])).toThrow(`at most ${TAG_COUNT_MAX}`)
    for (const tags of [null, 'plan', ['plan'], new Map([['plan', 'pro']]), new Date(0)])
      expect(() => checkTags(tags, [])).toThrow('tags must be an object')
  })
})

test('a value is shown short and on one line', () => {
  expect(show('two\nlines')).toBe('"two\\nlines"')
  expect(show('x'.repeat(1_000)).length).toBeLessThan(100)
})

test('a value without a text is shown by its type', () => {
  const { proxy, revoke } = Proxy.revocable({}, {})
  revoke()

  for (const value of [Object.create(null), proxy]) expect(show(value)).toBe('an object without a text')
})
