import { expect, expectTypeOf, test } from 'vitest'
import { z } from 'zod'
import { SIGNAL_PAYLOAD_BYTES } from '../../kernel/index.ts'
import { approval } from '../define/approval.ts'
import type { ExecutionHandle } from '../executions/execution-handle.ts'
import { HeldExecution, collect, createClient } from '../executions/held-execution.fixture.ts'
import { signal } from '../define/signal-wait.ts'
import { task } from '../define/task.ts'

test('a signal that comes before the wait is kept for it', async () => {
  await using client = createClient()
  const held = await HeldExecution.begin(client)

  const receipt = await client.signal(held.id, 'paid', { amount: 12 })

  expect(receipt).toMatchObject({ kind: 'delivered', effect: 'buffered', sequence: 1 })
  expect(await held.wait('payment', signal('paid'))).toMatchObject({ kind: 'answered' })
})

test('a signal that is waited for resumes the execution, and is idempotent per key', async () => {
  await using client = createClient()
  const held = await HeldExecution.begin(client)
  await held.wait('payment', signal('paid'))

  const receipts = [
    await client.signal(held.id, 'paid', 12, { key: 'event:1' }),
    await client.signal(held.id, 'paid', 12, { key: 'event:1' }),
  ]

  expect(receipts).toMatchObject([
    { kind: 'delivered', effect: 'resumed', sequence: 1 },
    { kind: 'duplicate', effect: 'resumed', sequence: 1 },
  ])
  expect(await client.execution(held.id).state()).toBe('waiting')
})

test('a signal is checked before it is sent', async () => {
  await using client = createClient()
  const { id } = await HeldExecution.begin(client)

  await expect(client.signal(id, '__timeout')).rejects.toThrow("names that begin with '__' are reserved")
  await expect(client.signal(id, 'paid', 1, { by: '' })).rejects.toThrow('by is ""')
  await expect(client.signal(id, 'paid', 1, { key: 'a\u001fb' })).rejects.toThrow('key is')
  await expect(client.signal(id, 'paid', 1, { from: 'ada' } as never)).rejects.toThrow('unknown key "from"')
  await expect(client.signal(id, 'paid', 'x'.repeat(SIGNAL_PAYLOAD_BYTES))).rejects.toMatchObject({
    code: 'payload_too_large',
  })
  await expect(client.signal(id, 'paid', 1, { waitpoint: '@paid', by: 'ada' })).rejects.toThrow('waitpoint is "@paid"')
  await expect(client.signal(id, 'paid', 1, { waitpoint: 'door', by: 'ada', as: 'token' as never })).rejects.toThrow(
    'as is',
  )
  expect((await client.describe(id)).journal.signalCount).toBe(0)
})

test('a task that names its signals takes no others, and checks their values', async () => {
  await using client = createClient()
  const review = z.object({ verdict: z.enum(['ship', 'rework']) })
  const brief = task('brief', { signals: { review } })
  const execution = await client.submit(brief, undefined)

  await execution.signal('review', { verdict: 'ship' })

  await expect(execution.signal('review', { verdict: 'maybe' as never })).rejects.toMatchObject({
    code: 'invalid_payload',
  })
  await expect(execution.signal('revue' as never, {} as never)).rejects.toThrow(
    `Task 'brief' takes no signal "revue"; it takes 'review'.`,
  )
  expect((await execution.describe()).journal.signalCount).toBe(1)
  expect(brief.signals.review).toBe(review)
  expectTypeOf(execution).toEqualTypeOf<ExecutionHandle<unknown, { readonly review: { verdict: 'ship' | 'rework' } }>>()
  expectTypeOf(await client.submit(task('any'), 1)).toEqualTypeOf<ExecutionHandle>()
  expectTypeOf(client.execution(execution.id, brief)).toEqualTypeOf(execution)
})

test('a waitpoint takes any name, also of a task that names its signals', async () => {
  await using client = createClient()
  const brief = task('brief', { signals: { review: z.object({ verdict: z.string() }) } })
  const held = await HeldExecution.begin(client)
  await held.wait('gate', approval({ need: 1 }))
  const execution = client.execution(held.id, brief)

  const receipt = await execution.signal('approve', undefined, { waitpoint: 'gate', by: 'ada', key: 'vote' })

  expect(receipt).toMatchObject({ kind: 'delivered', effect: 'resumed' })
  // @ts-expect-error -- a mailbox takes only the names of the task
  await expect(execution.signal('approve')).rejects.toThrow('takes no signal')
})

test('votes that a trusted program passes on count for whom it names, each once', async () => {
  await using client = createClient()
  const held = await HeldExecution.begin(client)
  await held.wait('review', approval({ need: 2, of: ['ada', 'bob'] }))
  const vote = (by: string) => client.signal(held.id, 'approve', undefined, { waitpoint: 'review', by })

  const effects = [await vote('ada'), await vote('ada'), await vote('eve'), await vote('bob')]

  expect(effects.map(({ effect }) => effect)).toEqual(['counted', 'counted_before', 'not_awaited', 'resumed'])
  await expect(vote('eve')).rejects.toMatchObject({ code: 'waitpoint_closed' })
  await expect(client.signal(held.id, 'approve', 1, { waitpoint: 'revue', by: 'ada' })).rejects.toMatchObject({
    code: 'waitpoint_not_found',
  })
})

test('the holder of a token votes once, as its principal', async () => {
  await using client = createClient()
  const held = await HeldExecution.begin(client)
  const links = await held.open('links')
  const [ada, bob] = [held.token(links, 'ada'), held.token(links, 'bob')]
  await held.wait('review', approval({ need: 2, on: { key: 'links' } }))

  const effects = [
    await client.answer(ada, 'approve', { note: 'fine' }, { key: 'vote' }),
    await client.answer(ada, 'approve', undefined, { key: 'another' }),
    await client.answer(bob, 'approve', undefined, { key: 'vote' }),
  ]

  expect(effects.map(({ kind, effect }) => [kind, effect])).toEqual([
    ['delivered', 'counted'],
    ['delivered', 'counted_before'],
    ['delivered', 'resumed'],
  ])
  const signals = await collect(client.signals(held.id, { values: true }))
  expect(signals).toMatchObject([
    { by: { type: 'token', identity: 'ada' }, key: 'vote', waitpoint: 'links', value: { note: 'fine' } },
    { by: { type: 'token', identity: 'ada' }, key: 'another' },
    { by: { type: 'token', identity: 'bob' }, key: 'vote' },
  ])
})

test('all tokens without a principal are one sender', async () => {
  await using client = createClient()
  const held = await HeldExecution.begin(client)
  const links = await held.open('links')
  await held.wait('review', approval({ need: 2, on: { key: 'links' } }))

  const first = await client.answer(held.token(links), 'approve')
  const second = await client.answer(held.token(links, undefined, ['approve']), 'approve')

  expect([first.effect, second.effect]).toEqual(['counted', 'counted_before'])
})

test('without a genuine token nothing is revealed, whether or not the waitpoint exists', async () => {
  await using client = createClient()
  await using other = createClient({ partitions: 4 })
  const held = await HeldExecution.begin(client)
  const links = await held.open('links')
  const forged = held.token(links, 'ada').replace(/.$/, (last) => (last === 'A' ? 'B' : 'A'))
  const claims = held.claims(links)
  const nowhere = { ...claims, executionId: '0-00000000-0000-7000-8000-000000000000' }
  const foreign = { ...claims, executionId: '3-00000000-0000-7000-8000-000000000000' }
  const tokens = [
    forged,
    'no token',
    other.tokens.issue(claims),
    client.tokens.issue(nowhere),
    client.tokens.issue(foreign),
    client.tokens.issue({ ...claims, target: 'elsewhere' }),
  ]

  const results = await Promise.all(tokens.map((token) => client.try.answer(token, 'approve')))

  expect(new Set(results.map((result) => JSON.stringify(result)))).toEqual(
    new Set([JSON.stringify({ kind: 'refused', code: 'invalid_token', detail: {} })]),
  )
  expect(await client.try.answer('', 'approve')).toMatchObject({ code: 'missing_token' })
})

test('a token is accepted for the names in it, until its waitpoint closes', async () => {
  await using client = createClient()
  const held = await HeldExecution.begin(client)
  const token = held.token(await held.open('links'), 'ada', ['approve', 'reject'])

  for (let i = 0; i < 30; i++) {
    await expect(client.answer(token, 'shutdown')).rejects.toThrow("This token may only send 'approve', 'reject'.")
  }
  // What was refused has taken no room.
  expect((await client.describe(held.id)).journal).toMatchObject({ signalCount: 0, bufferedCount: 0 })
  expect(await client.answer(token, 'approve')).toMatchObject({ kind: 'delivered' })
  await held.complete()

  expect(await client.try.answer(token, 'approve')).toEqual({ kind: 'refused', code: 'waitpoint_closed', detail: {} })
})

test('one person is one sender, however the name is composed, and no name hides a character', async () => {
  await using client = createClient()
  const held = await HeldExecution.begin(client)
  await held.open('links')
  const by = (name: string) => client.signal(held.id, 'approve', undefined, { waitpoint: 'links', by: name })

  await by('Zo\u00eb')
  await by('Zoe\u0308')
  for (const name of ['Zo\u00eb\u200b', 'Zo\u00eb ', '\ud800', 'ada\u202e', '']) {
    await expect(by(name)).rejects.toMatchObject({ code: 'invalid_input', detail: { field: 'by' } })
    await expect(client.cancel(held.id, 'no', { by: name })).rejects.toMatchObject({ code: 'invalid_input' })
    await expect(client.reissue(held.id, 'links', { for: name })).rejects.toMatchObject({ code: 'invalid_input' })
    expect(() => approval({ of: [name] })).toThrow(expect.objectContaining({ code: 'invalid_input' }) as Error)
  }
  await expect(client.resume(held.id, { by: 'ada', reason: 'a\u202eb' })).rejects.toMatchObject({
    detail: { field: 'reason' },
  })
  await expect(client.setTags(held.id, { plan: 'pro\u200b' })).rejects.toMatchObject({ detail: { field: 'tags.plan' } })

  const signals = []
  for await (const { by: sender } of client.signals(held.id)) signals.push(sender.identity)
  expect(signals).toEqual(['Zo\u00eb', 'Zo\u00eb'])
  expect(() => approval({ of: ['Zo\u00eb', 'Zoe\u0308'] })).toThrow('twice')
})

test('a token of an earlier version for a principal that hides a character is not valid', async () => {
  await using client = createClient()
  const held = await HeldExecution.begin(client)
  const links = await held.open('links')

  expect(await client.try.answer(held.token(links, 'ada\u200b'), 'approve')).toMatchObject({ code: 'invalid_token' })
  await client.answer(held.token(links, 'Zoe\u0308'), 'approve')
  for await (const { by } of client.signals(held.id)) expect(by.identity).toBe('Zo\u00eb')
})

test('a token that is issued anew makes all earlier ones worthless', async () => {
  await using client = createClient()
  const held = await HeldExecution.begin(client)
  const links = await held.open('links')

  const token = await client.reissue(held.id, 'links', { for: 'ada' })

  expect(await client.try.answer(held.token(links, 'ada'), 'approve')).toMatchObject({ code: 'token_expired' })
  expect(await client.answer(token, 'approve')).toMatchObject({ effect: 'buffered' })
  await expect(client.reissue(held.id, 'links', { for: '' })).rejects.toMatchObject({ code: 'invalid_input' })
  expect(await client.answer(token, 'approve')).toMatchObject({ kind: 'delivered' })
})

test('without keys there are no tokens', async () => {
  await using client = createClient({ hasKeys: false })
  const held = await HeldExecution.begin(client)
  await held.open('links')

  await expect(client.reissue(held.id, 'links')).rejects.toMatchObject({ code: 'signing_keys_missing' })
})

test('the last place that a wait looks at is closed only by force', async () => {
  await using client = createClient()
  const held = await HeldExecution.begin(client)
  await held.wait('review', approval())
  const close = (force: boolean) => client.closeWaitpoint(held.id, 'review', { by: 'eve', force })

  await expect(close(false)).rejects.toMatchObject({ code: 'waitpoint_awaited' })
  expect([await close(true), await close(true)]).toEqual(['closed', 'already_closed'])
})

test('an operator ends a wait once, and the step records who and why', async () => {
  await using client = createClient()
  const held = await HeldExecution.begin(client)
  await held.wait('review', approval())

  await client.resume(held.id, { by: 'eve', reason: 'decided by phone' })

  await expect(client.execution(held.id).resume({ by: 'eve' })).rejects.toMatchObject({
    code: 'execution_not_suspended',
  })
  expect(await collect(client.steps(held.id))).toMatchObject([
    { name: 'review', kind: 'wait', state: 'closed', how: 'operator', by: 'eve', reason: 'decided by phone' },
  ])
})

test('a closed client refuses', async () => {
  const client = createClient()
  await client.close()

  await expect(client.signal('x', 'paid')).rejects.toMatchObject({ code: 'fabric_closed' })
  expect(() => client.steps('x')).toThrow('closed')
})
