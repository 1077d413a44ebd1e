/** The page behind the link of a waitpoint, as a browser uses it. */
import { expect, test } from 'vitest'
import { KeyRing } from '../../src/client/index.ts'
import { read, served } from './served.ts'
import type { Served } from './served.ts'

/** Parks an execution that needs two approvals. Returns the tokens of two people. */
async function asking(found: Served): Promise<readonly [ada: string, bob: string]> {
  const params = { id: 'review' }
  await found.ok('submitExecution', { body: { task: 'review', id: params.id } })
  const claim = { tasks: [{ name: 'review' }], instance: 'i', wait: '20s' }
  const { items } = await found.ok('claimExecutions', { body: claim })
  const [{ lease }] = items as readonly [{ readonly lease: string }]
  const links = { key: 'release', tokens: [{ for: 'ada' }, { for: 'bob' }] }
  const { tokens } = await found.ok('openWaitpoint', { params, body: { lease, ...links } })
  const wait = { approval: { on: 'release', need: 2 } }
  await found.ok('suspendExecution', { params, body: { lease, wait } })
  return tokens as readonly [string, string]
}

/** Opens the link. Returns a function that sends the form of the page. */
async function open(found: Served, token: string): Promise<(name: string) => Promise<string>> {
  const { text } = await found.call('showAnswerPage', { query: { token } })
  const key = /name="key" value="([^"]+)"/.exec(text)?.[1] ?? ''
  return async (name) => {
    const body = new URLSearchParams({ token, key, name })
    const { status, text: page } = await read(await fetch(found.urlOf('sendAnswerPage'), { method: 'POST', body }))
    expect(status).toBe(200)
    return page
  }
}

async function votes(found: Served): Promise<unknown> {
  return (await found.ok('listSignals', { params: { id: 'review' } }))['items']
}

const ada = { name: 'approve', by: { identity: 'ada' } }

test('a form that is sent twice counts once, and its page does not claim that another answer was recorded', async () => {
  const found = await served({ fabric: { keys: KeyRing.begin(Date.now()) } })
  const [token] = await asking(found)
  const send = await open(found, token)
  expect(await send('approve')).toContain('You answered <strong>approve</strong>. More answers are awaited.')
  const again = await send('reject')
  expect(again).toContain('An answer from this page was received before')
  expect(again).not.toContain('<strong>')
  expect(await votes(found)).toMatchObject([ada])
})

test('the page says what an answer has done, also after the end of the wait', async () => {
  const found = await served({ fabric: { keys: KeyRing.begin(Date.now()) } })
  const [first, second] = await asking(found)
  const [send, again, late, other] = [
    await open(found, first),
    await open(found, first),
    await open(found, first),
    await open(found, second),
  ]
  await send('approve')
  expect(await again('reject')).toContain('an answer of yours was counted before')
  expect(await other('approve')).toContain('No more answers are awaited.')
  expect(await late('reject')).toContain('The waitpoint accepts no more signals')
  await found.ok('cancelExecution', { params: { id: 'review' }, body: { reason: 'over' } })
  expect(await late('reject')).toContain('The waitpoint accepts no more signals')
  expect(await votes(found)).toMatchObject([
    ada,
    { name: 'reject', by: ada.by },
    { name: 'approve', by: { identity: 'bob' } },
  ])
})
