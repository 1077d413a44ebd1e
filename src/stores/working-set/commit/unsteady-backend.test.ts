import { expect, test } from 'vitest'
import { virtualRuntime } from '../../../runtime/index.ts'
import { ConditionalMemoryStore } from '../../memory/conditional-memory.fixture.ts'
import { executionPartition } from '../../store.ts'
import { EMPTY_COMMIT } from './backend.ts'
import type { Commit } from './backend.ts'
import { UnsteadyBackend } from './unsteady-backend.fixture.ts'

/** A commit of operations that are a group each. */
function commitOf(operationCount: number, content: Partial<Commit>): Commit {
  return {
    partition: executionPartition(0),
    ...EMPTY_COMMIT,
    version: '1',
    passesLock: false,
    groupCount: operationCount,
    groupOf: Array.from({ length: operationCount }, (_, operation) => operation),
    reserved: [],
    ...content,
  }
}

test('one group of so many fails on an unsteady backend, and the others are applied and answered', async () => {
  const store = new ConditionalMemoryStore(virtualRuntime(), { executionPartitions: 1, indexedTags: [] })
  const backend = new UnsteadyBackend(store, 3)
  const bytesOf = (key: string) => new TextEncoder().encode(key)
  const keys = ['a', 'b', 'c', 'd']

  const blobs = keys.map((key, operation) => ({ key, bytes: bytesOf(key), mayExist: false, operation }))
  const stored = await backend.commit(commitOf(keys.length, { blobs }))
  const sends = keys.map((key, operation) => ({ key, operation }))
  const sent = await backend.commit(commitOf(keys.length, { sends }))

  expect(stored).toMatchObject({ kind: 'applied', failed: [2] })
  expect((await store.dump(executionPartition(0))).blobKeys).toEqual(['a', 'b', 'd'])
  // The blob of the third group is missing.
  expect(sent).toMatchObject({
    kind: 'applied',
    failed: [1],
    sent: [bytesOf('a'), undefined, undefined, bytesOf('d')],
  })
})
