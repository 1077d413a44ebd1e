import { expect, test } from 'vitest'
import { task } from '../../src/client/index.ts'
import { silentLog } from '../../src/runtime/index.ts'
import { createFabric } from '../../src/fabric/index.ts'
import { startServer } from '../servers/server.ts'
import { until } from '../servers/until.ts'
import { Follower } from './follower.ts'
import { say } from './verdict.ts'

const FORGOTTEN = 20
const ANSWER_LIMIT_MS = 60_000

const early = task<string, string>('early')

// The server takes up its events at the number of its last snapshot, so that those it numbers next have been read before.
test('a server that loses its last writes leaves no caller waiting for an end, and event readers get a gap', async () => {
  await using server = await startServer()
  await using fabric = await createFabric(`${server.location}?partitions=1`, { log: silentLog })
  const follower = new Follower(fabric)
  const execution = await fabric.submit(early, 'kept', { id: 'kept' })
  const result = execution.result({ signal: AbortSignal.timeout(ANSWER_LIMIT_MS) })

  await server.call('SAVE')
  for (let number = 0; number < FORGOTTEN; number++) {
    const { id } = await fabric.submit(early, 'forgotten')
    await fabric.cancel(id, 'it is to be read')
  }
  const hasReadAll = async (): Promise<true | undefined> => follower.ended.size === FORGOTTEN || undefined
  await until('everything is read that will be forgotten', ANSWER_LIMIT_MS, hasReadAll)
  await server.kill()
  await server.restart()
  const backAt = performance.now()
  await fabric.work([early.handle((input) => input)])

  expect(await result).toBe('kept')
  const next = await fabric.submit(early, 'next')
  const hasSeenEnd = async (): Promise<true | undefined> => follower.ended.has(next.id) || undefined
  await until('who follows the events sees what happens next', ANSWER_LIMIT_MS, hasSeenEnd)
  say('history lost', { 'waited on in ms': Math.round(performance.now() - backAt), gaps: follower.gapCount })
  expect(follower.gapCount).toBe(1)
  await follower.stop()
})
