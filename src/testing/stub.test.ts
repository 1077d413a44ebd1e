import { expect, test } from 'vitest'
import { PermanentError, task } from '../client/index.ts'
import { stub } from './stub.ts'
import { testFabric } from './test-fabric.ts'

const mail = task<{ to: string }, { sent: boolean }>('mail')

test('a stub answers with a value and keeps what it was asked', async () => {
  const stubbed = stub(mail, { sent: true })
  await using t = await testFabric([stubbed])

  expect(await (await t.submit(mail, { to: 'ada' })).result()).toEqual({ sent: true })
  expect(await (await t.submit(mail, { to: 'bob' })).result()).toEqual({ sent: true })

  expect(stubbed.calls).toEqual([{ to: 'ada' }, { to: 'bob' }])
})

test('a stub answers with what a function makes of the input', async () => {
  await using t = await testFabric([stub(mail, ({ to }) => ({ sent: to === 'ada' }))])

  expect(await (await t.submit(mail, { to: 'bob' })).result()).toEqual({ sent: false })
})

test('a stub that throws fails as its task would, and is asked again by the same policy', async () => {
  const stubbed = stub(mail, ({ to }) => {
    throw stubbed.calls.length === 1 ? new Error('busy') : new PermanentError(`no recipient named ${to}`)
  })
  await using t = await testFabric([stubbed])
  const execution = await t.submit(mail, { to: 'eve' }, { retry: { attempts: 5 } })

  const { failure } = await t.until(execution, 'failed')

  expect(failure?.message).toBe('no recipient named eve')
  expect(stubbed.calls).toHaveLength(2)
})
