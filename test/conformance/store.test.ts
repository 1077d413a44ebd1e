import { expect, test } from 'vitest'
import { executionPartition } from '../../src/stores/store.ts'
import { call, INDEXED_TAGS } from './fabric.ts'
import { conformsOnServers } from './harness.ts'

conformsOnServers('a store', ({ fabric, given }) => {
  test('returns the settings that all its users share', () => {
    expect(fabric.store.settings.indexedTags).toEqual(INDEXED_TAGS)
    expect(fabric.store.settings.executionPartitions).toBeGreaterThanOrEqual(1)
  })

  test('reports to an operator what it is and how durable', async () => {
    const report = await fabric.store.report()

    for (const text of [report.kind, report.version, report.location, report.durability]) expect(text).not.toBe('')
  })

  test('keeps what one partition holds apart from every other', async () => {
    const { executionId } = await given.eligibleExecution()
    const elsewhere = executionPartition(7)

    const [unknown, nothing] = await fabric.store.run(elsewhere, [
      call('describeExecution', { executionId }),
      call('claimForWorker', given.claimInput()),
    ])

    expect(unknown).toMatchObject({ result: { kind: 'refused', code: 'execution_not_found' } })
    expect(nothing).toMatchObject({ result: { executions: [], more: false } })
    expect(await fabric.store.readEvents(elsewhere, 0, 10)).toMatchObject({ events: [], lastSequence: 0 })
    expect((await fabric.store.readEvents(fabric.partition, 0, 10)).events).toHaveLength(1)
  })
})
