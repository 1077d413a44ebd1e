import { expect, test } from 'vitest'
import { PRESENT } from '../overlay/stored-data.ts'
import type { StoredRecord } from '../overlay/stored-data.ts'
import { RecordCache } from './record-cache.ts'

function stored(version: string): StoredRecord {
  return { record: undefined, version, length: 0 }
}

function given(max: number, ...ids: string[]): RecordCache {
  const cache = new RecordCache(max)
  for (const id of ids) cache.set('execution', id, stored(id))
  return cache
}

function versionIn(cache: RecordCache, id: string): string | undefined {
  const found = cache.get('execution', id)
  return found === PRESENT ? undefined : found?.version
}

test('the newest version of a record is remembered, by its type and id', () => {
  const cache = given(10, 'a')
  cache.set('flow', 'a', stored('of the flow'))
  cache.set('execution', 'a', stored('newer'))

  expect(cache.get('execution', 'a')).toMatchObject({ version: 'newer' })
  expect(cache.get('flow', 'a')).toMatchObject({ version: 'of the flow' })
  expect(cache.get('edge', 'a')).toBeUndefined()
})

test('records that were put longest ago make room', () => {
  const cache = given(4, 'a', 'b', 'c')
  cache.set('execution', 'a', stored('again'))

  cache.set('execution', 'd', stored('d'))

  const kept = ['a', 'b', 'c', 'd'].map((id) => versionIn(cache, id))
  expect(kept).toEqual(['again', undefined, 'c', 'd'])
})

test('one record or all can be forgotten', () => {
  const cache = given(10, 'a', 'b', 'c')

  cache.delete('execution', 'a')
  expect(cache.get('execution', 'a')).toBeUndefined()
  expect(cache.get('execution', 'b')).toBeDefined()

  cache.clear()
  expect(cache.get('execution', 'b')).toBeUndefined()
})

test('a record that is forgotten does not come back in an earlier version', () => {
  const cache = given(4, 'a', 'b', 'c')
  cache.set('execution', 'a', stored('again'))

  cache.delete('execution', 'a')
  cache.delete('execution', 'b')

  expect(['a', 'b', 'c'].map((id) => versionIn(cache, id))).toEqual([undefined, undefined, 'c'])
})

test('a record may be dropped and still be known to be stored', () => {
  const cache = given(10, 'a', 'b', 'c')

  cache.setPresent('execution', 'a')
  cache.setPresent('execution', 'c')
  const ids = ['a', 'b', 'c', 'd']

  expect(ids.map((id) => versionIn(cache, id))).toEqual([undefined, 'b', undefined, undefined])
  expect(ids.map((id) => cache.get('execution', id) !== undefined)).toEqual([true, true, true, false])
  cache.delete('execution', 'a')
  expect(cache.get('execution', 'a')).toBeUndefined()
})
