import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { describe, expect, test } from 'vitest'
import type { Field } from '../src/kernel/index.ts'
import { root } from './run.ts'
import { compareLocks, currentLock, fieldForms } from './schema-form.ts'
import type { SchemaLock } from './schema-form.ts'

test('the stored form of records and events is the locked one', async () => {
  const locked = JSON.parse(await readFile(path.join(root, 'src/kernel/model/schema.lock.json'), 'utf8')) as SchemaLock
  const verdict = compareLocks(locked, currentLock())

  expect(verdict, verdict.kind === 'same' ? '' : verdict.text).toEqual({ kind: 'same' })
})

describe('a schema compared with its lock', () => {
  const id: Field = { name: 'id', of: { kind: 'text' } }
  const size: Field = { name: 'size', of: { kind: 'number' } }
  const box = (...fields: Field[]): Field => ({ name: 'box', of: { kind: 'object', fields } })
  const colour = (...words: string[]): Field => ({ name: 'colour', of: { kind: 'word', words } })
  const shape = (...words: string[]): Field => ({
    name: 'shape',
    of: { kind: 'union', tag: 'kind', variants: words.map((word) => ({ word, fields: [size] })) },
  })
  const many = (of: Field): Field => ({ name: 'many', of: { kind: 'list', of: of.of } })

  function lock(fields: Field[], dataVersion = 1): SchemaLock {
    return { dataVersion, forms: { thing: fieldForms(fields) } }
  }

  test.each([
    ['a field', [id], [id, size]],
    ['a field of an object', [box(id), size], [box(id, size), size]],
    ['a field of an object in a list', [many(box(id))], [many(box(id, size))]],
    ['a word', [colour('red')], [colour('red', 'green')]],
    ['a variant', [shape('circle'), id], [shape('circle', 'square'), id]],
  ])('may append %s', (_, before, after) => {
    expect(compareLocks(lock(before), lock(after))).toMatchObject({
      kind: 'appended',
      text: expect.stringContaining('npm run schema:lock') as string,
    })
  })

  test.each([
    ['an inserted field', [id, size], [id, colour('red'), size]],
    ['a removed field', [id, size], [id]],
    ['a renamed field', [id], [{ ...id, name: 'key' }]],
    ['another kind', [id], [{ ...size, name: 'id' }]],
    ['another order of words', [colour('red', 'green')], [colour('green', 'red')]],
    ['a removed word', [colour('red', 'green')], [colour('red')]],
    ['another order of variants', [shape('circle', 'square')], [shape('square', 'circle')]],
    ['a field inserted in a variant of a list', [many(shape('circle'))], [many(shape('oval', 'circle'))]],
  ])('refuses %s unless the data version is raised', (_, before, after) => {
    expect(compareLocks(lock(before), lock(after))).toMatchObject({
      kind: 'incompatible',
      text: expect.stringContaining('raise DATA_VERSION') as string,
    })
    expect(compareLocks(lock(before), lock(after, 2)).kind).toBe('raised')
  })

  test('refuses a data version that fell', () => {
    expect(compareLocks(lock([id], 2), lock([id], 1)).kind).toBe('incompatible')
  })
})
