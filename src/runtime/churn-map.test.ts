import { expect, test } from 'vitest'
import { ChurnMap } from './churn-map.ts'

test('holds the newest value of each key, in the order of the first insert', () => {
  const map = new ChurnMap<string, object>()
  const [first, second, newest] = [{ n: 1 }, { n: 2 }, { n: 3 }]

  map.set('a', first)
  map.set('b', second)
  map.set('a', newest)

  expect(map.get('a')).toBe(newest)
  expect([...map.values()]).toEqual([newest, second])
  expect(map.size).toBe(2)
})

test('a deleted key is gone, and comes back at the end', () => {
  const map = new ChurnMap<string, string>()
  map.set('a', 'first')
  map.set('b', 'second')

  expect([map.delete('a'), map.delete('a')]).toEqual([true, false])
  expect([map.get('a'), map.size]).toEqual([undefined, 1])

  map.set('a', 'again')
  expect([...map.values()]).toEqual(['second', 'again'])
})

test('values that are deleted while they are visited are not visited', () => {
  const map = new ChurnMap<string, string>()
  for (const key of ['a', 'b', 'c']) map.set(key, key)

  const visited: string[] = []
  for (const value of map.values()) {
    visited.push(value)
    map.delete('b')
  }

  expect(visited).toEqual(['a', 'c'])
})

test('clear removes everything', () => {
  const map = new ChurnMap<string, string>()
  map.set('a', 'first')

  map.clear()

  expect([map.get('a'), map.size, ...map.values()]).toEqual([undefined, 0])
})
