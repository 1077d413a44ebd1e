import { describe, expect, test } from 'vitest'
import { compareCatalogues } from './compare-catalogues.ts'
import type { CatalogueEntry } from './compare-catalogues.ts'

const table: CatalogueEntry = { object: 'table', table: 'lamp', name: 'lamp', definition: 'table' }
const column: CatalogueEntry = { object: 'column', table: 'lamp', name: 'colour', definition: 'text not null' }
const index: CatalogueEntry = { object: 'index', table: 'lamp', name: 'by_colour', definition: 'using btree (colour)' }
const expected = [table, column, index]

describe('the comparison of two catalogues', () => {
  test('finds nothing between equal ones, in whatever order they are', () => {
    expect(compareCatalogues(expected, expected.toReversed())).toEqual([])
  })

  test('finds what is missing, what was added and what was changed, each with what to do', () => {
    const added: CatalogueEntry = { object: 'column', table: 'lamp', name: 'watts', definition: 'integer' }

    const found = compareCatalogues(expected, [table, { ...column, definition: 'text' }, added])

    expect(found.map(({ kind, object, name }) => [kind, object, name])).toEqual([
      ['missing', 'index', 'lamp.by_colour'],
      ['changed', 'column', 'lamp.colour'],
      ['unexpected', 'column', 'lamp.watts'],
    ])
    expect(found[1]).toMatchObject({ expected: 'text not null', found: 'text' })
    for (const { remedy } of found) expect(remedy).toMatch(/^[A-Z].*\.$/)
  })

  test('names a missing or an added table once, without what belongs to it', () => {
    const other: CatalogueEntry = { object: 'table', table: 'visitor', name: 'visitor', definition: 'table' }
    const own: CatalogueEntry = { object: 'column', table: 'visitor', name: 'id', definition: 'integer' }

    const found = compareCatalogues(expected, [other, own])

    expect(found.map(({ kind, name }) => [kind, name])).toEqual([
      ['missing', 'lamp'],
      ['unexpected', 'visitor'],
    ])
  })

  test('reports the text of a table only if none of its parts differs', () => {
    const changed: CatalogueEntry = { ...table, definition: 'unlogged table' }

    expect(compareCatalogues(expected, [changed, column, index])).toMatchObject([{ kind: 'changed', object: 'table' }])
    expect(compareCatalogues(expected, [changed, column])).toMatchObject([{ kind: 'missing', object: 'index' }])
  })
})
