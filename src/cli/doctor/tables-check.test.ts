import { expect, test } from 'vitest'
import type { TableDifference } from '../../stores/open/compare-tables.ts'
import { tableFindings } from './tables-check.ts'

function difference(kind: TableDifference['kind'], name: string): TableDifference {
  return { kind, object: 'index', name, expected: undefined, found: undefined, remedy: 'Create it again.' }
}

const different = (...differences: TableDifference[]) =>
  tableFindings({ kind: 'different', version: 3, differences })[0]

test('a store without tables has no finding, and one whose tables are right is well', () => {
  expect(tableFindings({ kind: 'no_tables' })).toEqual([])
  expect(tableFindings({ kind: 'not_set_up' })).toEqual([])
  expect(tableFindings({ kind: 'same', version: 3, differences: [] })).toMatchObject([{ verdict: 'ok' }])
})

test('something that is missing or changed is a problem, something that was added a warning', () => {
  expect(different(difference('missing', 'a.b'), difference('unexpected', 'a.c'))?.verdict).toBe('problem')
  expect(different(difference('changed', 'a.b'))?.verdict).toBe('problem')
  expect(different(difference('unexpected', 'a.c'))?.verdict).toBe('warning')
})

test('the first differences are named, the others counted', () => {
  const names = ['a.a', 'a.b', 'a.c', 'a.d', 'a.e']
  const finding = different(...names.map((name) => difference('missing', name)))

  expect(finding?.text).toContain('missing index a.a, missing index a.b, missing index a.c and 2 more')
})

test('tables that the user may not compare are no problem of the store', () => {
  const [finding] = tableFindings({ kind: 'not_permitted', message: 'permission denied' })

  expect(finding).toMatchObject({ check: 'tables', verdict: 'ok' })
  expect(finding?.text).toContain('permission denied')
})
