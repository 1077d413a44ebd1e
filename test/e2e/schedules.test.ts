import { writeFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { errorIn, workplace } from './workplace.ts'

const graph = {
  name: 'release',
  outcome: 'sinks',
  nodes: [
    { name: 'build', task: 'build', input: { branch: 'main' } },
    { name: 'ship', task: 'ship', after: { nodes: ['build'] } },
  ],
}

test('a schedule of a flow is defined by its graph, fires, and is deleted', async () => {
  const place = await workplace()
  await writeFile(place.path('release.json'), JSON.stringify(graph))
  const set = ['schedules', 'set', 'weekly', '--flow', '@release.json', '--cron', '0 6 * * 1', '--tag', 'team=a']

  const first = await place.run(set)
  expect(first).toMatchObject({ code: 0, stdout: 'Schedule weekly is created: 0 6 * * 1 UTC.\n' })
  expect((await place.run(set)).stdout).toContain('unchanged')
  const { id } = await place.json<{ id: string }>('schedules', 'trigger', 'weekly')
  const flows = await place.json<{ items: readonly object[] }>('flow', 'list', '--schedule', 'weekly')

  expect(flows.items).toMatchObject([{ id, name: 'release', tags: { team: 'a' } }])
  expect(await place.json('schedules', 'delete', 'weekly')).toEqual({ name: 'weekly', deleted: true })
})

test('a schedule of a task has the settings of a submit', async () => {
  const place = await workplace()
  const settings = ['--lane', 'slow', '--attempts', '3', '--retention', 'completed=1h,failed=30d', '--overlap', 'allow']

  await place.run(['schedules', 'set', 'poll', '{"all":true}', '--task', 'sync', '--every', '15m', ...settings])
  const { id } = await place.json<{ id: string }>('schedules', 'trigger', 'poll')

  expect(await place.json('show', id, '--payload')).toMatchObject({ task: 'sync', lane: 'slow', input: { all: true } })
})

test.each([
  [['--every', '5m'], '--task or --flow'],
  [['--task', 'sync', '--flow', '{}', '--every', '5m'], '--task or --flow'],
  [['--flow', JSON.stringify(graph), '--lane', 'slow', '--every', '5m'], '--retention, --tag and --budget'],
  [['--flow', JSON.stringify({ ...graph, nodes: [] }), '--every', '5m'], '--flow.nodes'],
  [['--task', 'sync', '--retention', 'done=1h', '--every', '5m'], '--retention'],
])('settings that do not go together are refused: %j', async (flags, message) => {
  const place = await workplace()

  const refused = await place.run(['schedules', 'set', 'any', ...flags, '--json'])

  expect(refused.code).toBe(2)
  expect(errorIn(refused)).toMatchObject({ code: 'invalid_input', message: expect.stringContaining(message) as string })
})
