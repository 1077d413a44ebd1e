import { expect, test } from 'vitest'
import { virtualRuntime } from '../../runtime/index.ts'
import {
  executionIdFromKey,
  flowIdFromKey,
  memberIdOf,
  mintExecutionId,
  parseExecutionId,
  parseFlowId,
  partitionOf,
  resolveExecutionId,
  resolveFlowId,
} from './ids.ts'

const UUID = '0190a7a0-1111-7222-8333-444455556666'

test('an id names its partition', () => {
  expect(partitionOf(parseExecutionId(`7-${UUID}`, 8))).toBe('fp:7')
  expect(partitionOf(mintExecutionId(31, virtualRuntime()))).toBe('fp:31')
})

test.each(['', 'x', UUID, `01-${UUID}`, `-1-${UUID}`, `0-${UUID.toUpperCase()}x`, `0-${UUID} `])(
  '%j is no execution id',
  (text) => {
    expect(() => parseExecutionId(text, 8)).toThrow('not an execution id of the form')
  },
)

test('an id of a partition that the store does not have is refused', () => {
  expect(() => parseExecutionId(`8-${UUID}`, 8)).toThrow('names partition 8, but this store has 8')
})

test('minted ids differ and sort by their time', () => {
  const runtime = virtualRuntime()
  const ids = Array.from({ length: 1_000 }, () => mintExecutionId(0, runtime))

  expect(new Set(ids).size).toBe(1_000)
  expect([...ids].sort()).toEqual(ids)
  for (const id of ids) expect(parseExecutionId(id, 1)).toBe(id)
})

test('one key in one namespace always gives one id, and others give others', () => {
  const id = executionIdFromKey('default', 'brief:acme:bees', 8)

  expect(executionIdFromKey('default', 'brief:acme:bees', 8)).toBe(id)
  expect(executionIdFromKey('other', 'brief:acme:bees', 8)).not.toBe(id)
  expect(executionIdFromKey('default', 'brief:acme:wasps', 8)).not.toBe(id)
  expect(parseExecutionId(id, 8)).toBe(id)
  expect(id).toMatch(/^\d-[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
})

test('keys spread over all partitions', () => {
  const partitions = new Set(
    Array.from({ length: 200 }, (_, i) => partitionOf(executionIdFromKey('default', `key ${i}`, 8))),
  )

  expect(partitions.size).toBe(8)
})

test('wherever an id is taken a key is taken too', () => {
  expect(resolveExecutionId(`3-${UUID}`, 'default', 8)).toBe(`3-${UUID}`)
  expect(resolveExecutionId('brief:acme', 'default', 8)).toBe(executionIdFromKey('default', 'brief:acme', 8))
})

test('a key that looks like an id is refused, because it would be taken for one', () => {
  expect(() => executionIdFromKey('default', `3-${UUID}`, 8)).toThrow("has the form of an execution's own id")
})

test('a flow has ids of its own form, which name its partition', () => {
  const id = flowIdFromKey('default', 'release:42', 8)

  expect(flowIdFromKey('default', 'release:42', 8)).toBe(id)
  expect(id).toMatch(/^f[0-7]-[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
  expect(parseFlowId(id, 8)).toBe(id)
  expect(partitionOf(id)).toBe(`fp:${id.slice(1, id.indexOf('-'))}`)
  expect(id.slice(1)).not.toBe(executionIdFromKey('default', 'release:42', 8))
  expect(resolveFlowId('release:42', 'default', 8)).toBe(id)
  expect(resolveFlowId(id, 'default', 8)).toBe(id)
  expect(() => parseFlowId(`3-${UUID}`, 8)).toThrow("is not a flow's id")
  expect(() => parseFlowId(`f9-${UUID}`, 8)).toThrow('names partition 9')
})

test('a member has one id for each flow and node, in the partition of the flow', () => {
  const flow = flowIdFromKey('default', 'release:42', 8)
  const other = flowIdFromKey('default', 'release:43', 8)

  expect(memberIdOf(flow, 'build')).toBe(memberIdOf(flow, 'build'))
  expect(memberIdOf(flow, 'build')).not.toBe(memberIdOf(flow, 'test'))
  expect(memberIdOf(flow, 'build')).not.toBe(memberIdOf(other, 'build'))
  expect(partitionOf(memberIdOf(flow, 'build'))).toBe(partitionOf(flow))
})

test('the id of a flow is not taken for that of an execution, nor the other way round', () => {
  expect(() => resolveExecutionId(`f3-${UUID}`, 'default', 8)).toThrow('is the id of a flow')
  expect(() => resolveFlowId(`3-${UUID}`, 'default', 8)).toThrow('is the id of an execution')
  expect(() => flowIdFromKey('default', `f3-${UUID}`, 8)).toThrow("has the form of a flow's own id")
})
