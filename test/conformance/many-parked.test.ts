/** Many executions that wait, and are stopped by one operation: each has recorded a step, so its handler runs once more. */
import { expect, test } from 'vitest'
import { anyOf, flow, task } from '../../src/client/index.ts'
import type { TaskContext } from '../../src/client/index.ts'
import { conforms } from './harness.ts'
import { Working } from './working.ts'

/** More than one operation may load one after the other. */
const COUNT = 90

const parked = task<undefined, null>('parked')
const winner = task<undefined, null>('winner')
const last = task<undefined, null>('last')
const parent = task<undefined, null>('parent')

const names = Array.from({ length: COUNT }, (_, i) => `p${i}`)

const race = flow('race', (f) => {
  const racers = names.map((name) => f.node(name, parked))
  f.node('last', last, { after: anyOf([...racers, f.node('winner', winner)]) })
})
const group = flow('group', (f) => {
  for (const name of names) f.node(name, parked)
})

conforms('many parked executions', ({ fabric }) => {
  /** Runs handlers until all are parked. Returns those that have undone their step. */
  const working = async (
    start: (working: Working) => Promise<unknown>,
    run: (working: Working) => Promise<unknown>,
  ) => {
    await using fleet = new Working(fabric)
    fleet.maintain()
    const all = Promise.withResolvers<undefined>()
    let waitingCount = 0
    const undone = new Set<string>()
    const wait = async (ctx: TaskContext) => {
      await ctx.step('book', () => null)
      if (++waitingCount === COUNT) all.resolve(undefined)
      try {
        await ctx.sleep('nap', '1h')
      } catch (error) {
        await ctx.step('undo', () => undone.add(ctx.executionId).size)
        throw error
      }
      return null
    }
    fleet.work(
      [
        parked.handle((_, ctx) => wait(ctx)),
        winner.handle(async () => (await all.promise, null)),
        last.handle(() => null),
        parent.handle(async (_, ctx) => {
          await ctx.all(names.map((name) => ctx.spawn(name, parked)))
          return null
        }),
      ],
      { concurrency: COUNT + 2 },
    )
    await fleet.until(start(fleet))
    await fleet.until(all.promise)
    await fleet.elapse(200)
    await run(fleet)
    for (let ms = 0; ms < 60_000 && undone.size < COUNT; ms += 500) await fleet.elapse(500)
    return undone.size
  }

  test('that are children are all stopped with their parent', async () => {
    const start = ({ client }: Working) => client.submit(parent, undefined, { id: 'parent' })
    expect(await working(start, async (fleet) => fleet.until(fleet.client.cancel('parent', 'it rains')))).toBe(COUNT)
  })

  test('that are members are all stopped with their flow', async () => {
    const start = ({ client }: Working) => client.submit(group, undefined, { id: 'group' })
    expect(await working(start, async (fleet) => fleet.until(fleet.client.cancelFlow('group', 'it rains')))).toBe(COUNT)
  })

  test('that lose a race are all stopped, and the winner completes', async () => {
    const start = ({ client }: Working) => client.submit(race, undefined, { id: 'race' })
    const undone = await working(start, async (fleet) => {
      expect(await fleet.until(fleet.client.flow('race').output('last'))).toBeNull()
    })

    expect(undone).toBe(COUNT)
  })
})
