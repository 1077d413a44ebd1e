import { describe, expect, test, vi } from 'vitest'
import * as mine from '../contract.ts'
import { testFabric } from './test-fabric.ts'

vi.resetModules()
/** The contract as a program gets it that has the package twice: other classes, other functions. */
const other = await import('../contract.ts')

const retried = other.task('retried', { retry: { attempts: 3, backoff: 'fixed', jitter: false } })

async function stateAfter(thrown: () => Error) {
  await using t = await testFabric([retried.handle(() => Promise.reject(thrown()))])
  const execution = await t.submit(retried, undefined)
  await t.advance(0)
  const { state, failureCount, attempts } = await t.describe(execution.id)
  return { state, failureCount, category: attempts.at(-1)?.failure?.category }
}

test('the two copies have nothing in common', () => {
  expect(other.PermanentError).not.toBe(mine.PermanentError)
  expect(Object.getPrototypeOf(new other.PermanentError('no'))).not.toBe(mine.PermanentError.prototype)
})

describe('a worker of one copy recognises the errors of the other', () => {
  test('a permanent one is not retried', async () => {
    expect(await stateAfter(() => new other.PermanentError('no'))).toMatchObject({
      state: 'failed',
      category: 'permanent',
    })
  })

  test('a postponed attempt counts no failure', async () => {
    expect(await stateAfter(() => new other.PostponeError('1h'))).toMatchObject({ state: 'delayed', failureCount: 0 })
  })

  test('a category is kept', async () => {
    expect(await stateAfter(() => new other.CategorisedError('limit', 'too many'))).toMatchObject({
      state: 'delayed',
      category: 'limit',
    })
  })

  test('the handler chooses the time of the retry', async () => {
    const handler = retried.handle(() => Promise.reject(new other.RetryAfterError('2h')))
    await using t = await testFabric([handler])
    const execution = await t.submit(retried, undefined)
    await t.until(execution, 'delayed')
    await t.advance('119m')
    expect(await execution.describe()).toMatchObject({ failureCount: 1 })
    await t.advance('1m')
    expect(await execution.describe()).toMatchObject({ failureCount: 2 })
  })

  test('a failed step reaches a handler that asks for the class of its own copy', async () => {
    const handler = other.task('steps').handle(async (_input, { step }) => {
      const failed: unknown = await step('charge', () => {
        throw new other.PermanentError('declined')
      }).catch((error: unknown) => error)
      return [failed instanceof other.StepFailedError, failed instanceof other.PermanentError]
    })
    await using t = await testFabric([handler])
    const execution = await t.submit(handler.task, undefined)
    expect(await execution.result()).toEqual([true, false])
  })
})

test('a caller recognises the errors of the other copy', () => {
  const ended = new other.ExecutionEndedError('failed', {})
  expect([ended instanceof mine.ExecutionEndedError, ended instanceof mine.EngineError]).toEqual([true, true])
  expect(ended instanceof mine.LeaseLostError).toBe(false)
  expect({} instanceof mine.EngineError).toBe(false)
})

test('an error class of a program is recognised by its prototype', () => {
  class Declined extends mine.PermanentError {}
  class Lost extends other.PermanentError {}
  expect(new Declined('no')).toBeInstanceOf(Declined)
  expect(new Declined('no')).toBeInstanceOf(other.PermanentError)
  expect(new Lost('no')).not.toBeInstanceOf(Declined)
  expect(new mine.PermanentError('no')).not.toBeInstanceOf(Declined)
})

test('waits of both copies form one condition', async () => {
  const handler = other.task('waits').handle(async (_input, { waitFor }) => {
    const met = await waitFor('both', other.when.every([other.signal('paid'), mine.signal('packed')]))
    const last = await waitFor('last', other.signal('sent'))
    return [met.ok, last.ok]
  })
  await using t = await testFabric([handler])
  const execution = await t.submit(handler.task, undefined)
  await t.until(execution, 'suspended')
  for (const name of ['paid', 'packed', 'sent']) await t.signal(execution.id, name)
  await t.advance(0)

  expect(await execution.result()).toEqual([true, true])
})
