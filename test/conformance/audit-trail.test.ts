/** The audit trail: entries are kept in their order, for their time, up to a count. */
import { expect, test } from 'vitest'
import { LIST_SCAN_COUNT } from '../../src/kernel/index.ts'
import type { OperationInput } from '../../src/kernel/index.ts'
import { STORE_PARTITION } from '../../src/stores/partitions.ts'
import { conforms } from './harness.ts'

type NewEntry = OperationInput<'recordAuditEntry'>

const KEEP_MS = 60_000
const DUE = { limit: 100, seed: 1, family: 'm' } as const

const plain: NewEntry = {
  entryId: 'one',
  keepMs: KEEP_MS,
  keepCount: 1_000,
  requestId: 'request-1',
  credential: 'deploy',
  role: 'operator',
  by: 'ada',
  namespace: 'acme',
  address: '10.0.0.7',
  action: 'cancelExecution',
  targets: [{ name: 'id', value: 'é:1' }],
  reason: 'the customer left\u0000',
  status: 404,
  code: 'execution_not_found',
}

conforms('the audit trail', ({ fabric, clock }) => {
  async function record(entryId: string, facts: Partial<NewEntry> = {}): Promise<string> {
    return (await fabric.runIn(STORE_PARTITION, 'recordAuditEntry', { ...plain, entryId, ...facts })).kind
  }

  const list = (input: Partial<OperationInput<'listAuditEntries'>> = {}) =>
    fabric.runIn(STORE_PARTITION, 'listAuditEntries', { limit: 100, ...input })
  const ids = async (input: Partial<OperationInput<'listAuditEntries'>> = {}) =>
    (await list(input)).entries.map(({ id }) => id)

  test('has an entry unchanged, once however often it is recorded', async () => {
    const targets = [{ name: 'id', value: 'b\u0000c' }]
    expect(await record('one', { targets })).toBe('entry_recorded')
    clock.advance(5)
    expect(await record('one', { reason: 'another' })).toBe('entry_exists')

    const { entryId, keepMs, keepCount: _, ...facts } = plain
    const at = clock.now() - 5
    expect(await list()).toEqual({
      kind: 'entries_listed',
      entries: [{ type: 'audit_entry', id: entryId, sequence: 1, at, expiresAt: at + keepMs, ...facts, targets }],
      cursor: undefined,
    })
  })

  test('lists the latest first, in pages that later entries do not move', async () => {
    for (const id of ['a', 'c', 'b', 'd', 'e']) await record(id)

    const first = await list({ limit: 2 })
    await record('late')
    const second = await list({ limit: 2, cursor: first.cursor })
    const third = await list({ limit: 2, cursor: second.cursor })

    const pages = [first, second, third].map(({ entries }) => entries.map(({ id }) => id))
    expect([pages, third.cursor]).toEqual([[['e', 'd'], ['b', 'c'], ['a']], undefined])
  })

  test('is filtered by namespace, action, person and target', async () => {
    await record('plain')
    await record('of the store', { namespace: undefined, action: 'pauseLane', by: undefined })
    await record('other', { namespace: 'other', credential: 'ada', by: 'bob', targets: [] })

    expect(await ids({ namespace: 'acme' })).toEqual(['plain'])
    expect(await ids({ action: 'pauseLane' })).toEqual(['of the store'])
    expect(await ids({ by: 'ada' })).toEqual(['other', 'plain'])
    expect(await ids({ target: 'é:1' })).toEqual(['of the store', 'plain'])
  })

  test('a page examines a bounded number of entries, and the next one continues there', async () => {
    await record('rare', { action: 'rare' })
    await Promise.all(Array.from({ length: LIST_SCAN_COUNT }, (_, i) => record(`entry-${i}`)))

    const first = await list({ action: 'rare' })
    const second = await list({ action: 'rare', cursor: first.cursor })

    expect([first.entries, second.entries.map(({ id }) => id), second.cursor]).toEqual([[], ['rare'], undefined])
  })

  test('entries of processes that record at the same time have different places', async () => {
    await Promise.all(Array.from({ length: 8 }, (_, i) => record(`entry-${i}`)))

    const { entries } = await list()
    expect(entries.map(({ sequence }) => sequence)).toEqual([8, 7, 6, 5, 4, 3, 2, 1])
  })

  test('an entry beyond the count replaces the oldest', async () => {
    for (const id of ['a', 'b', 'c', 'd', 'e']) await record(id, { keepCount: 3 })
    expect(await ids()).toEqual(['e', 'd', 'c'])

    for (const id of ['f', 'g']) await record(id, { keepCount: 1 })
    expect(await ids()).toEqual(['g'])
  })

  test('an entry is removed when its time is over, and not before', async () => {
    await record('first')
    clock.advance(KEEP_MS - 1)
    await record('second')
    await fabric.runIn(STORE_PARTITION, 'runDue', DUE)
    expect(await ids()).toEqual(['second', 'first'])

    clock.advance(1)
    const passes = [
      await fabric.runIn(STORE_PARTITION, 'runDue', DUE),
      await fabric.runIn(STORE_PARTITION, 'runDue', DUE),
    ]

    expect(passes.map(({ handled }) => handled.length)).toEqual([1, 0])
    expect(await ids()).toEqual(['second'])
    expect((await fabric.dump(STORE_PARTITION)).events).toEqual([])
  })
})
