import { expect, test } from 'vitest'
import { executionPartition } from '../../src/stores/store.ts'
import { call } from '../conformance/fabric.ts'
import { forcedCancel } from '../conformance/given.ts'
import { locations, newPrefix, open, submitInto } from './fabrics.ts'

/** Longer than the limits of the kernel allow, and than the layout can encode. */
const TOO_LONG = 'x'.repeat(2 ** 16)

test('a text that no limit allows is a fault of its operation, which has written nothing', async () => {
  const partition = executionPartition(0)
  const store = await open(`${locations().valkey}?prefix=${newPrefix()}&partitions=1`)
  await submitInto(store, 0)
  const before = await store.dump(partition)
  const executionId = before.records.flatMap((record) => (record.type === 'execution' ? [record.id] : []))[0]!

  const [answer] = await store.run(partition, [
    call('cancelExecution', { executionId, ...forcedCancel, reason: TOO_LONG }),
  ])

  const reason = 'A text of 65536 bytes is too long to be stored: 65535 is the limit.'
  expect(answer).toEqual({ kind: 'fault', reason, recordId: executionId })
  expect(await store.dump(partition)).toEqual(before)
})
