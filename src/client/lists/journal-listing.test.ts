import { expect, test } from 'vitest'
import { approval } from '../define/approval.ts'
import { HeldExecution, collect, createClient } from '../executions/held-execution.fixture.ts'
import { signal } from '../define/signal-wait.ts'
import { when } from '../define/when.ts'

test('lists what is open in all partitions, longest open first, page by page', async () => {
  await using client = createClient({ partitions: 3 })
  const keys: string[] = []
  for (let i = 0; i < 7; i++) {
    const held = await HeldExecution.begin(client)
    for (const key of [`door-${i}`, `gate-${i}`]) {
      await held.open(key)
      keys.push(key)
      await client.clock.advance(1)
    }
  }

  const listed: string[] = []
  let cursor: string | undefined
  do {
    const page = await client.waitpoints({ limit: 4, ...(cursor === undefined ? {} : { cursor }) })
    listed.push(...page.items.map(({ key }) => key))
    cursor = page.cursor
  } while (cursor !== undefined)

  expect(listed).toEqual(keys)
  await expect(client.waitpoints({ cursor: 'l1.0.0' })).rejects.toMatchObject({ code: 'invalid_cursor' })
})

test('lists the waitpoints of one execution, closed ones and mailboxes if they are asked for', async () => {
  await using client = createClient()
  const held = await HeldExecution.begin(client)
  for (const key of ['door', 'gate', 'hatch']) await held.open(key)
  await client.signal(held.id, 'paid')
  await client.signal(held.id, 'open', 1, { waitpoint: 'gate', by: 'ada' })
  await client.closeWaitpoint(held.id, 'hatch', { by: 'eve', reason: 'not needed' })
  await held.wait('entry', when.every([{ key: 'door' }, signal('late')]))

  const open = await client.waitpoints(held.id)
  const all = await client.waitpoints(held.id, { all: true, limit: 3 })
  const rest = await client.waitpoints(held.id, { all: true, cursor: all.cursor ?? '' })

  expect(open.items.filter(({ key }) => !key.startsWith('@'))).toMatchObject([
    { key: 'door', state: 'awaited', step: 'entry' },
    { key: 'gate', state: 'pending', signalCount: 1, bufferedCount: 1 },
  ])
  expect([...all.items, ...rest.items].map(({ key, state }) => [key, state])).toEqual([
    ['@paid', 'mailbox'],
    ['door', 'awaited'],
    ['gate', 'pending'],
    ['hatch', 'closed'],
  ])
  expect(JSON.stringify([open, all, rest])).not.toContain('token')
})

test('steps are read in the order of recording, over pages, with values only on request', async () => {
  await using client = createClient()
  const held = await HeldExecution.begin(client)
  for (let i = 0; i < 205; i++) await held.step(`step-${i}`, { i })
  await held.wait('review', approval({ need: 2, timeout: '3d', onTimeout: 'fail' }))
  await client.signal(held.id, 'approve', undefined, { waitpoint: 'review', by: 'ada' })

  const steps = await collect(client.steps(held.id))
  const withValues = await collect(client.steps(held.id, { values: true }))

  expect(steps.map(({ position }) => position)).toEqual(Array.from({ length: 206 }, (_, i) => i))
  expect([steps[204]?.value, withValues[204]?.value]).toEqual([undefined, { i: 204 }])
  expect(steps[204]).toMatchObject({ name: 'step-204', kind: 'call', state: 'completed', isFinal: true, size: 9 })
  expect(steps[205]).toMatchObject({
    state: 'open',
    wait: {
      reason: 'approval',
      onTimeout: 'fail',
      places: ['review'],
      counts: [
        { name: 'approve', need: 2, has: 1 },
        { name: 'reject', need: 1, has: 0 },
      ],
      signals: [1],
    },
  })
})

test('a description shows what an execution waits for and what it has recorded', async () => {
  await using client = createClient()
  const held = await HeldExecution.begin(client)
  await held.step('search', 'bees')
  await client.signal(held.id, 'early')
  await held.wait('review', approval({ timeout: '1h' }))
  const now = client.runtime.now()

  expect(await client.describe(held.id)).toMatchObject({
    state: 'suspended',
    suspension: { step: 'review', reason: 'approval', since: now, until: now + 3_600_000 },
    journal: { stepCount: 2, signalCount: 1, bufferedCount: 1, openWaitpointCount: 1 },
  })
  expect((await client.why(held.id)).text).toContain("It waits for approval in 'review'")
})

test('the explanation of a sleeping execution names the time', async () => {
  await using client = createClient()
  const held = await HeldExecution.begin(client)
  await held.sleep('embargo', 3_600_000)

  expect((await client.why(held.id)).text).toMatch(/^It sleeps in 'embargo' since .*; it resumes at /)
})

test('a replay does anew what was recorded from a step on, or from the start', async () => {
  await using client = createClient()
  const held = await HeldExecution.begin(client)
  for (const name of ['search', 'write', 'send']) await held.step(name, name)
  await held.complete()

  await expect(client.replay(held.id, { from: { step: 'print' } })).rejects.toMatchObject({ code: 'step_not_found' })
  await expect(client.replay(held.id, { from: 'write' as never })).rejects.toThrow("or be 'start'")
  await client.replay(held.id, { from: { step: 'write' } })

  expect((await collect(client.steps(held.id))).map(({ name }) => name)).toEqual(['search'])
  await (await HeldExecution.claim(client, held.id)).complete()
  await client.replay(held.id, { from: 'start' })
  expect(await collect(client.steps(held.id))).toEqual([])
})
