import { expect, test } from 'vitest'
import { flow } from '../define/flow.ts'
import { task } from '../define/task.ts'
import { createClient } from '../executions/held-execution.fixture.ts'

const write = task<number>('write', { lane: 'a' })
const read = task<number>('read', { lane: 'b' })

test('filters by one or several tasks, states and tags, and by the beginning of the id', async () => {
  await using client = createClient({ partitions: 3 })
  const tags = [
    { name: 'team', value: 'red' },
    { name: 'plan', value: 'pro' },
  ]
  await client.submit(write, 1, { id: 'order:1', tags: { team: 'red', plan: 'pro' } })
  await client.submit(read, 2, { id: 'order:2', tags: { team: 'red' } })
  await client.submit(read, 3, { id: 'bill:1', delay: '1h' })
  const found = async (query: Parameters<typeof client.list>[0]) =>
    (await client.list(query)).items.map(({ key }) => key).toSorted()

  expect(await found({ task: 'read' })).toEqual(['bill:1', 'order:2'])
  expect(await found({ task: ['read', 'write'], keyPrefix: 'order:' })).toEqual(['order:1', 'order:2'])
  expect(await found({ state: ['delayed', 'failed'] })).toEqual(['bill:1'])
  expect(await found({ tag: tags })).toEqual(['order:1'])
  expect(await found({ tag: { name: 'team', value: 'red' } })).toEqual(['order:1', 'order:2'])
  expect(await found({ endedFrom: 0 })).toEqual([])
})

test('lists the members of a flow over pages', async () => {
  await using client = createClient({ partitions: 3 })
  const fan = flow<number>('fan', (f) => {
    for (let i = 0; i < 7; i++) f.node(`part-${i}`, write, { input: i })
  })
  const { id } = await client.submit(fan, 1, { id: 'fan:1' })
  await client.submit(write, 9)
  const page = await client.list({ flow: 'fan:1', limit: 4 })
  const rest = await client.list({ flow: id, limit: 4, cursor: page.cursor })

  expect([page.items.length, rest.items.length, rest.cursor]).toEqual([4, 3, undefined])
  expect(new Set([...page.items, ...rest.items].map((item) => item.id)).size).toBe(7)
  expect((await client.list({ flow: id, state: 'completed' })).items).toEqual([])
  await expect(client.list({ flow: 'fan:2' })).rejects.toMatchObject({ code: 'flow_not_found' })
  await expect(client.list({ flow: id, cursor: 'l1.0.0' })).rejects.toMatchObject({ code: 'invalid_cursor' })
})

test.each([
  [{ state: ['done'] }, 'state is "done", but must be one of'],
  [{ task: [] }, 'task has 0 entries, but must have from 1 to 16'],
  [{ tag: [{ name: 'Plan', value: 'pro' }] }, 'tag'],
  [{ endedFrom: 'yesterday' }, 'endedFrom is "yesterday"'],
])('refuses %j and names the field', async (query, text) => {
  await using client = createClient()

  await expect(client.list(query as never)).rejects.toThrow(text)
})
