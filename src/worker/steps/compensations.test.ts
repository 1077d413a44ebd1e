import { expect, test } from 'vitest'
import { ExecutionCancelledError, PermanentError, signal, task } from '../../client/index.ts'
import type { TaskContext } from '../../client/index.ts'
import { INCOMPLETE_RUN_MAX } from '../../kernel/index.ts'
import { createWorld } from '../worker.fixture.ts'

const trip = task<null, string>('trip')

/** Books a flight and a hotel, each with a compensation, and runs `rest`. */
function booking(done: string[], rest: (context: TaskContext) => Promise<unknown>) {
  return trip.handle(async (_, context) => {
    for (const what of ['flight', 'hotel']) {
      await context.step(`book ${what}`, () => void done.push(`book ${what}`))
      await context.compensate(`cancel ${what}`, () => void done.push(`cancel ${what}`))
    }
    await rest(context)
    return 'away'
  })
}

const BOOKED = ['book flight', 'book hotel']
const UNDONE = ['cancel hotel', 'cancel flight']

test('a completed execution compensates nothing', async () => {
  await using world = createWorld()
  const done: string[] = []
  world.work([booking(done, () => Promise.resolve())])
  const execution = await world.fabric.submit(trip, null)

  await expect(execution.result()).resolves.toBe('away')
  expect(done).toEqual(BOOKED)
})

test('a failure that is not retried compensates in reverse order, and the execution ends with it', async () => {
  await using world = createWorld()
  const done: string[] = []
  world.work([
    booking(done, () => {
      throw new PermanentError('no cars in Venice')
    }),
  ])
  const execution = await world.fabric.submit(trip, null)

  expect(await execution.wait()).toMatchObject({
    outcome: 'failed',
    reason: 'no cars in Venice',
    failure: { category: 'permanent', message: 'no cars in Venice' },
    undoFailure: undefined,
    attempts: [{ outcome: 'failed', failure: { message: 'no cars in Venice' } }],
  })
  expect(done).toEqual([...BOOKED, ...UNDONE])
  const steps: string[] = []
  for await (const { name, state } of world.fabric.steps(execution.id)) steps.push(`${name} ${state}`)
  expect(steps.slice(2)).toEqual(['cancel hotel#undo completed', 'cancel flight#undo completed'])
})

test('a failure that is retried compensates nothing; the last one does', async () => {
  await using world = createWorld()
  const done: string[] = []
  world.work([
    booking(done, () => {
      done.push('fail')
      throw new Error('busy')
    }),
  ])
  const execution = await world.fabric.submit(trip, null, {
    retry: { attempts: 3, backoff: { kind: 'fixed', delay: 10 } },
  })
  await world.advance(10_000)

  expect(await execution.wait()).toMatchObject({ outcome: 'failed', failure: { message: 'busy' } })
  expect(done).toEqual([...BOOKED, 'fail', 'fail', 'fail', ...UNDONE])
})

test('a failed step is a failure like any other', async () => {
  await using world = createWorld()
  const done: string[] = []
  world.work([
    booking(done, (context) =>
      context.step('book car', () => {
        throw new PermanentError('no cars')
      }),
    ),
  ])
  const execution = await world.fabric.submit(trip, null)

  expect(await execution.wait()).toMatchObject({ outcome: 'failed', failure: { message: 'no cars' } })
  expect(done).toEqual([...BOOKED, ...UNDONE])
})

test.each<[string, (context: TaskContext) => Promise<unknown>]>([
  ['parked', (context) => context.waitFor('go', signal('go'))],
  ['parked, and catches the error', (context) => context.sleep('nap', '1d').catch(() => undefined)],
])('a cancel of an execution that is %s compensates', async (_, rest) => {
  await using world = createWorld()
  const done: string[] = []
  world.work([booking(done, rest)])
  const execution = await world.fabric.submit(trip, null)
  await world.settle()
  await execution.cancel('it rains', { by: 'ada' })

  expect(await execution.wait()).toMatchObject({ outcome: 'cancelled', reason: 'it rains', by: 'ada' })
  expect(done).toEqual([...BOOKED, ...UNDONE])
})

test('a cancel of a running handler compensates, also if it comes between a step and its compensation', async () => {
  await using world = createWorld()
  const done: string[] = []
  const gate = Promise.withResolvers<undefined>()
  world.work([
    trip.handle(async (_, context) => {
      await context.step('book', () => void done.push('book'))
      await gate.promise
      await context.compensate('unbook', () => void done.push('unbook'))
      await context.step('pay', () => void done.push('pay'))
      return 'away'
    }),
  ])
  const execution = await world.fabric.submit(trip, null)
  await world.settle()
  await execution.cancel('it rains')
  await world.settle()
  gate.resolve(undefined)

  expect(await execution.wait()).toMatchObject({ outcome: 'cancelled' })
  expect(done).toEqual(['book', 'unbook'])
})

test('a cancel that comes before the first step of an execution with a compensation wakes it too', async () => {
  await using world = createWorld()
  const done: string[] = []
  world.work([
    trip.handle(async (_, context) => {
      await context.compensate('unbook', () => void done.push('unbook'))
      await context.sleep('nap', '1d')
      return 'away'
    }),
  ])
  const execution = await world.fabric.submit(trip, null)
  await world.settle()
  expect(await execution.cancel('it rains')).toBe('cancel_requested')

  expect(await execution.wait()).toMatchObject({ outcome: 'cancelled' })
  expect(done).toEqual(['unbook'])
})

test('a deadline compensates, and the execution expires', async () => {
  await using world = createWorld()
  const done: string[] = []
  world.work([booking(done, (context) => context.sleep('nap', '1d'))])
  const execution = await world.fabric.submit(trip, null, { timeout: { total: '1m' } })
  await world.settle()
  await world.advance(62_000)

  expect(await execution.wait()).toMatchObject({ outcome: 'expired', failure: { category: 'deadline' } })
  expect(done).toEqual([...BOOKED, ...UNDONE])
})

test('a final attempt timeout compensates in another run, although no call of this one has reported it', async () => {
  await using world = createWorld()
  const done: string[] = []
  const hangs = Promise.withResolvers<undefined>()
  let runs = 0
  world.work([
    booking(done, async (context) => {
      runs += 1
      if (runs === 1) await hangs.promise
      await context.step('pay', () => void done.push('pay'))
    }),
  ])
  const execution = await world.fabric.submit(trip, null, { timeout: { attempt: '10s' } })
  await world.settle()
  await world.advance(60_000)

  expect(await execution.wait()).toMatchObject({
    outcome: 'expired',
    reason: 'attempt_timeout',
    failure: { category: 'timeout' },
  })
  expect(done).toEqual([...BOOKED, ...UNDONE])
  hangs.resolve(undefined)
})

test('an undo that fails for good leaves the others to run, and is visible', async () => {
  await using world = createWorld()
  const done: string[] = []
  world.work([
    trip.handle(async (_, context) => {
      await context.compensate('first', () => void done.push('first'))
      await context.compensate('refund', { retry: { attempts: 2, backoff: { kind: 'fixed', delay: 10 } } }, () => {
        done.push('refund')
        throw new Error('the bank is closed')
      })
      await context.compensate('last', () => void done.push('last'))
      throw new PermanentError('out of stock')
    }),
  ])
  const execution = await world.fabric.submit(trip, null)
  await world.advance(1_000)

  expect(await execution.wait()).toMatchObject({
    outcome: 'failed',
    failure: { message: 'out of stock' },
    undoFailure: { category: 'compensation_failed', message: "compensation 'refund' failed: the bank is closed" },
  })
  expect(done).toEqual(['last', 'refund', 'refund', 'first'])
  expect((await execution.why()).text).toContain(
    "Not all of its steps were undone: compensation 'refund' failed: the bank is closed.",
  )
  expect(world.linesOf('error')).toMatchObject([
    {
      fields: { executionId: execution.id, compensation: 'refund' },
      message: expect.stringContaining('compensation') as unknown,
    },
  ])
  const { events } = await world.store.readEvents('fp:0', 0, 100)
  expect(events.filter(({ type, effect }) => type === 'step_recorded' && effect === 'failed')).toMatchObject([
    { step: 'refund#undo', reason: 'the bank is closed' },
  ])
})

test('an undo that fails for good after a cancel is the failure of the execution', async () => {
  await using world = createWorld()
  world.work([
    trip.handle(async (_, context) => {
      await context.compensate('refund', () => {
        throw new PermanentError('the bank is gone')
      })
      await context.sleep('nap', '1d')
      return 'away'
    }),
  ])
  const execution = await world.fabric.submit(trip, null)
  await world.settle()
  await execution.cancel('it rains')

  expect(await execution.wait()).toMatchObject({
    outcome: 'cancelled',
    failure: { category: 'compensation_failed', message: "compensation 'refund' failed: the bank is gone" },
  })
})

test('a late retry of an undo parks the execution, and repeats no other', async () => {
  await using world = createWorld()
  const done: string[] = []
  world.work([
    trip.handle(async (_, context) => {
      await context.compensate(
        'refund',
        { retry: { attempts: 2, backoff: { kind: 'fixed', delay: '1h' } } },
        (step) => {
          done.push(`refund ${step.attempt}`)
          if (step.attempt === 1) throw new Error('closed')
        },
      )
      await context.compensate('unbook', () => void done.push('unbook'))
      throw new PermanentError('out of stock')
    }),
  ])
  const execution = await world.fabric.submit(trip, null)
  await world.settle()
  expect(await world.stateOf(execution.id)).toBe('suspended')
  expect((await execution.why()).text).toContain('It has failed for good (out of stock)')
  await world.advance(3_700_000)

  expect(await execution.wait()).toMatchObject({ outcome: 'failed', failure: { message: 'out of stock' } })
  expect(done).toEqual(['unbook', 'refund 1', 'refund 2'])
})

test('a crash between two undos repeats none, and no later run can complete the execution', async () => {
  await using world = createWorld()
  const done: string[] = []
  const hangs = Promise.withResolvers<undefined>()
  let runs = 0
  const handler = trip.handle(async (_, context) => {
    runs += 1
    await context.step('book', () => void done.push('book'))
    await context.compensate('unbook', async () => {
      done.push('unbook')
      if (runs === 1) await hangs.promise
    })
    await context.compensate('notify', () => void done.push('notify'))
    // Only the first run fails: the next one would complete if it were not known that steps were undone.
    if (runs === 1) throw new PermanentError('out of stock')
    await context.step('pay', () => void done.push('pay'))
    return 'away'
  })
  const first = world.work([handler], { leaseTtl: '30s' })
  const execution = await world.fabric.submit(trip, null)
  await world.settle()
  expect(done).toEqual(['book', 'notify', 'unbook'])
  first.crash()
  world.work([handler], { leaseTtl: '30s' })
  await world.advance(60_000)

  expect(await execution.wait()).toMatchObject({ outcome: 'failed', failure: { message: 'out of stock' } })
  expect(done).toEqual(['book', 'notify', 'unbook', 'unbook'])
  hangs.resolve(undefined)
})

test('a stopping worker hands the rest of the compensations to another', async () => {
  await using world = createWorld()
  const done: string[] = []
  const gate = Promise.withResolvers<undefined>()
  const handler = booking(done, (context) => {
    if (done.length > BOOKED.length) return context.sleep('nap', '1d')
    throw new PermanentError('no cars')
  })
  const slow = trip.handle(async (input, context) => {
    await context.compensate('wait', async () => {
      done.push('wait')
      await gate.promise
    })
    return String(await handler.run(input, context))
  })
  const first = world.work([slow])
  const execution = await world.fabric.submit(trip, null)
  await world.settle()
  expect(done).toEqual([...BOOKED, ...UNDONE, 'wait'])
  const closing = first.close({ drain: 0 })
  await world.settle()
  gate.resolve(undefined)
  await closing
  world.work([slow])
  await world.settle()

  expect(await execution.wait()).toMatchObject({ outcome: 'failed', failure: { message: 'no cars' } })
  expect(done.slice(0, 5)).toEqual([...BOOKED, ...UNDONE, 'wait'])
  expect(done.filter((entry) => entry.startsWith('cancel'))).toEqual(UNDONE)
})

test('a run that fails before it has registered all compensations runs none, and another run does', async () => {
  await using world = createWorld()
  const done: string[] = []
  let runs = 0
  world.work([
    trip.handle(async (_, context) => {
      runs += 1
      await context.compensate('first', () => void done.push('first'))
      // A connection that fails in the run that is to undo the steps.
      if (runs === 2 || runs === 3) throw new Error('connection refused')
      await context.compensate('second', () => void done.push('second'))
      await context.sleep('nap', '1d')
      return 'away'
    }),
  ])
  const execution = await world.fabric.submit(trip, null)
  await world.settle()
  await execution.cancel('it rains')
  await world.settle()
  expect(done).toEqual([])
  await world.advance(10_000)

  expect(await execution.wait()).toMatchObject({ outcome: 'cancelled', undoFailure: undefined })
  expect(done).toEqual(['second', 'first'])
})

test('a replay from a step that fails before it registers anything undoes the steps that it has kept', async () => {
  await using world = createWorld()
  const done: string[] = []
  let runs = 0
  world.work([
    trip.handle(async (_, context) => {
      runs += 1
      if (runs === 2) throw new PermanentError('no such customer')
      await context.step('book flight', () => void done.push('book flight'))
      await context.compensate('cancel flight', () => void done.push('cancel flight'))
      await context.step('book car', () => void done.push('book car'))
      await context.compensate('cancel car', () => void done.push('cancel car'))
      return 'away'
    }),
  ])
  const execution = await world.fabric.submit(trip, null)
  await execution.wait()
  await execution.replay({ from: { step: 'book car' } })
  await world.advance(10_000)

  expect(await execution.wait()).toMatchObject({
    outcome: 'failed',
    failure: { message: 'no such customer' },
    undoFailure: undefined,
  })
  expect(done).toEqual(['book flight', 'book car', 'cancel flight'])
})

test('after enough incomplete runs the registered compensations run, and the others are reported', async () => {
  await using world = createWorld()
  const done: string[] = []
  let runs = 0
  world.work([
    trip.handle(async (_, context) => {
      runs += 1
      await context.compensate('first', () => void done.push('first'))
      if (runs === 1) await context.compensate('second', () => void done.push('second'))
      await context.sleep('nap', '1d')
      return 'away'
    }),
  ])
  const execution = await world.fabric.submit(trip, null)
  await world.settle()
  await execution.cancel('it rains')
  await world.advance(7_200_000)

  expect(await execution.wait()).toMatchObject({
    outcome: 'cancelled',
    undoFailure: { message: 'the handler registered 1 of 2 compensations' },
  })
  expect(done).toEqual(['first'])
  expect(runs).toBe(2 + INCOMPLETE_RUN_MAX)
})

test('compensations that take too long end with their time, and the failure stays', async () => {
  await using world = createWorld()
  const hangs = Promise.withResolvers<undefined>()
  world.work([
    trip.handle(async (_, context) => {
      await context.compensate('unbook', () => hangs.promise)
      throw new PermanentError('out of stock')
    }),
  ])
  const execution = await world.fabric.submit(trip, null, { timeout: { compensation: '1m', attempt: '10s' } })
  await world.settle()
  await world.advance(59_000)
  expect(await world.stateOf(execution.id)).toBe('active')
  await world.advance(3_000)

  expect(await execution.wait()).toMatchObject({
    outcome: 'failed',
    failure: { message: 'out of stock' },
    undoFailure: { category: 'compensation_timeout' },
  })
  hangs.resolve(undefined)
})

test('a compensation of a branch that is still running when the handler fails is not lost', async () => {
  await using world = createWorld()
  const done: string[] = []
  const gate = Promise.withResolvers<undefined>()
  world.work([
    trip.handle(async (_, context) => {
      const slow = async () => {
        await context.step('slow', () => gate.promise)
        await context.compensate('undo slow', () => void done.push('undo slow'))
      }
      const failing = async () => {
        await context.step('fast', () => {
          throw new PermanentError('no')
        })
      }
      await Promise.all([slow(), failing()])
      return 'away'
    }),
  ])
  const execution = await world.fabric.submit(trip, null)
  await world.settle()
  gate.resolve(undefined)

  expect(await execution.wait()).toMatchObject({ outcome: 'failed' })
  expect(done).toEqual(['undo slow'])
})

test('the error that a handler sees names the outcome, and durable calls inside an undo are refused', async () => {
  await using world = createWorld()
  const seen: unknown[] = []
  let runs = 0
  const hangs = Promise.withResolvers<undefined>()
  const handler = trip.handle(async (_, context) => {
    runs += 1
    await context.compensate('nested', async () => {
      if (runs === 1) await hangs.promise
      await context.step('inner', () => undefined)
    })
    if (runs === 1) throw new PermanentError('out of stock')
    await context.sleep('nap', '1d').catch((error: unknown) => {
      seen.push(error instanceof ExecutionCancelledError && error.outcome)
      throw error
    })
    return 'away'
  })
  const first = world.work([handler], { leaseTtl: '30s' })
  const execution = await world.fabric.submit(trip, null)
  await world.settle()
  first.crash()
  world.work([handler], { leaseTtl: '30s' })
  await world.advance(60_000)

  expect(await execution.wait()).toMatchObject({
    outcome: 'failed',
    undoFailure: { message: expect.stringContaining('called inside step') as unknown },
  })
  expect(seen).toEqual(['failed'])
  hangs.resolve(undefined)
})

test('the number of compensations is stored once for each, and not again by later runs', async () => {
  await using world = createWorld()
  world.work([booking([], (context) => context.waitFor('go', signal('go')))])
  const execution = await world.fabric.submit(trip, null)
  await world.settle()
  await execution.signal('go', null)

  await expect(execution.result()).resolves.toBe('away')
  expect(world.store.callsOf('registerCompensation')).toHaveLength(2)
})

test('a lost reply to the final failure repeats nothing', async () => {
  await using world = createWorld()
  const done: string[] = []
  let isLost = false
  world.store.plan = ({ operation }) => {
    if (operation !== 'failExecution' || isLost) return undefined
    isLost = true
    return 'after'
  }
  world.work([
    booking(done, () => {
      throw new PermanentError('no cars')
    }),
  ])
  const execution = await world.fabric.submit(trip, null)
  await world.advance(5_000)

  expect(await execution.wait()).toMatchObject({ outcome: 'failed', failure: { message: 'no cars' }, failureCount: 1 })
  expect(done).toEqual([...BOOKED, ...UNDONE])
})

test.each<[string, string, unknown, string]>([
  ['no function', 'x', 'undo', 'must be a function'],
  ['a reserved name', 'x#undo', () => undefined, '#undo'],
])('a compensation with %s is refused', async (_, name, run, text) => {
  await using world = createWorld()
  world.work([
    trip.handle(async (_input, context) => {
      await context.compensate(name, run as () => void)
      return 'away'
    }),
  ])
  const execution = await world.fabric.submit(trip, null)

  expect(await execution.wait()).toMatchObject({
    outcome: 'failed',
    failure: { message: expect.stringContaining(text) as unknown },
  })
})
