import { expect, test } from 'vitest'
import { virtualRuntime } from '../../../runtime/index.ts'
import { EngineError } from '../../../kernel/engine-error.ts'
import { Pool } from './pool.ts'
import type { Pooled } from './pool.ts'

/** Longer than a caller waits for a connection. */
const LONG_MS = 10_000

class Line implements Pooled {
  isLost = false
  isResting = false
  isClosed = false
  #onLost: (() => void)[] = []

  lose(): this {
    this.isLost = true
    for (const listener of this.#onLost.splice(0)) listener()
    return this
  }

  onLost(listener: () => void): void {
    if (this.isLost) listener()
    else this.#onLost.push(listener)
  }

  unref(): void {
    this.isResting = true
  }

  ref(): void {
    this.isResting = false
  }

  close(): void {
    this.isClosed = true
    this.lose()
  }
}

/** What is made first, then what is made next; beyond them nothing can be made. */
function poolOf(max: number, ...lines: Line[]) {
  const runtime = virtualRuntime()
  const connect = async (): Promise<Line> => {
    const line = lines.shift()
    if (line === undefined) throw new EngineError('store_unavailable')
    return line
  }
  return { runtime, pool: new Pool(runtime, max, connect) }
}

/** Uses a connection until it is released. */
function holdOne(pool: Pool<Line>) {
  const { promise, resolve, reject } = Promise.withResolvers<undefined>()
  const taken = Promise.withResolvers<Line>()
  const done = pool.use(async (line) => {
    taken.resolve(line)
    await promise
    return line
  })
  return { taken: taken.promise, done, letGo: () => resolve(undefined), fail: reject }
}

test('a connection that was lost before it could be lent is replaced for the waiting caller', async () => {
  const [lost, next] = [new Line().lose(), new Line()]
  const { pool } = poolOf(2, lost, next)

  expect(await pool.use(async (line) => line)).toBe(next)
  expect(lost.isClosed).toBe(true)
})

test('a connection on which something failed is thrown away', async () => {
  const [first, second] = [new Line(), new Line()]
  const { pool } = poolOf(1, first, second)
  const held = holdOne(pool)
  const waiting = pool.use(async (line) => line)

  held.fail(new Error('It failed.'))
  await expect(held.done).rejects.toThrow('It failed.')
  expect(await waiting).toBe(second)
  expect([first.isClosed, second.isClosed]).toEqual([true, false])
})

test('while no more connections can be opened, waiting callers get the open ones', async () => {
  const only = new Line()
  const { pool, runtime } = poolOf(4, only)
  const held = holdOne(pool)
  await held.taken
  const waiting = pool.use(async (line) => line)

  await runtime.advance(LONG_MS)
  held.letGo()
  await held.done

  expect(await waiting).toBe(only)
})

test('callers that wait for an unreachable server are refused after a bounded time, all at once', async () => {
  const { pool, runtime } = poolOf(4)
  const outcomes = Promise.allSettled(Array.from({ length: 10 }, () => pool.use(async (line) => line)))

  await runtime.advance(LONG_MS)

  expect((await outcomes).map(({ status }) => status)).toEqual(Array.from({ length: 10 }, () => 'rejected'))
})

test('a connection that is lost while idle is not lent', async () => {
  const [first, second] = [new Line(), new Line()]
  const { pool } = poolOf(4, first, second)
  await pool.use(async () => undefined)

  first.lose()

  expect(await pool.use(async (line) => line)).toBe(second)
})

test('an idle connection keeps no process alive', async () => {
  const only = new Line()
  const { pool } = poolOf(1, only)

  const inUse = [await pool.use(async (line) => line.isResting), await pool.use(async (line) => line.isResting)]

  expect(inUse).toEqual([false, false])
  expect(only.isResting).toBe(true)
})

test('closing closes the connections and refuses waiting and new callers', async () => {
  const only = new Line()
  const { pool } = poolOf(1, only)
  const held = holdOne(pool)
  await held.taken
  const waiting = pool.use(async (line) => line)

  pool.close()
  held.letGo()

  await expect(waiting).rejects.toMatchObject({ code: 'fabric_closed' })
  await expect(pool.use(async (line) => line)).rejects.toMatchObject({ code: 'fabric_closed' })
  expect(only.isClosed).toBe(true)
})
