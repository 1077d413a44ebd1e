import { expect, test } from 'vitest'
import { budgetId } from '../../kernel/index.ts'
import { virtualRuntime } from '../../runtime/index.ts'
import { Batcher } from '../../stores/batcher.ts'
import { MemoryStore } from '../../stores/memory/memory-store.ts'
import { limitPartition } from '../../stores/partitions.ts'
import { BudgetAccount } from './budget-account.ts'

const ROOTS = ['a', 'b', 'c'] as const
const tokens = (value: number) => [{ dimension: 'tokens', value }]

/** An execution that spends three trees, of which only some are defined. */
async function accountOf(defined: Readonly<Record<string, number>>) {
  const runtime = virtualRuntime()
  const batcher = new Batcher(new MemoryStore(runtime, { executionPartitions: 1, indexedTags: [] }), runtime)
  const { settings } = batcher.store
  for (const [name, hard] of Object.entries(defined)) {
    const terms = { hard: tokens(hard), soft: [], onBreach: 'refuse_new', boundaries: [] } as const
    await batcher.run(limitPartition(name, settings), 'defineBudget', { root: name, name, ...terms })
  }
  const spender = { executionId: undefined, namespace: 'default', task: 'draft', epoch: 1, attempt: 1 }
  const budgets = ROOTS.map((root) => ({ limit: budgetId(root, root), key: '' }))
  const run = <T>(_: unknown, call: () => Promise<T>) => call()
  const owner = { spender, budgets, keyPrefix: 'x', run, report: run }
  const reserved = async () => {
    const places = Object.keys(defined).map(async (name) => {
      const asked = { root: name, name, key: '', limit: 1 }
      const { result } = await batcher.run(limitPartition(name, settings), 'describeBudget', asked)
      return result.kind === 'refused' ? undefined : result.accounts[0]?.reserved
    })
    return await Promise.all(places)
  }
  return { account: new BudgetAccount(owner, batcher), reserved }
}

test('the trees hold nothing after a later one has no room', async () => {
  const { account, reserved } = await accountOf({ a: 10, b: 10, c: 4 })

  expect(await account.reserve('call', tokens(5), 1_000)).toMatchObject({ overrun: { name: 'c', hard: 4 } })
  expect((await reserved()).map((one) => one ?? [])).toEqual([[], [], []])
})

test('the trees hold nothing after a later one has refused the call', async () => {
  const { account, reserved } = await accountOf({ a: 10, b: 10 })

  await expect(account.reserve('call', tokens(5), 1_000)).rejects.toMatchObject({ code: 'budget_not_found' })
  expect((await reserved()).map((one) => one ?? [])).toEqual([[], []])
})
