import { expect, test } from 'vitest'
import { poolerFindings } from './pooler-check.ts'

const right = { isPrepared: false, listensThere: false }

test('a server that is reached directly needs no finding', () => {
  expect(poolerFindings({ kind: 'none', isPrepared: true, listensThere: true })).toEqual([])
})

test('a pooler that shares connections is a warning with the settings that it needs', () => {
  const textOf = (settings: Partial<typeof right>) => poolerFindings({ kind: 'shared', ...right, ...settings })[0]

  expect(textOf({})).toMatchObject({ check: 'pooler', verdict: 'ok' })
  expect(textOf({ isPrepared: true })).toMatchObject({ verdict: 'warning' })
  expect(textOf({ isPrepared: true })?.text).toContain('prepare=false')
  expect(textOf({ isPrepared: true })?.text).not.toContain('postgres.listen')
  expect(textOf({ listensThere: true })?.text).toContain('postgres.listen')
})

test('a pooler that keeps connections is well with any settings', () => {
  expect(poolerFindings({ kind: 'kept', isPrepared: true, listensThere: true })).toMatchObject([{ verdict: 'ok' }])
})
