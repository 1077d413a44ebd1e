/** Lua written by hand for the three steps alone: what they cost at least when nobody thinks of anything else. */
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { Redis } from 'ioredis'
import { LANE, loadOf } from '../workload.ts'
import { LEASE_TTL_MS, RESULT, expectAnswer } from './contender.ts'
import type { Contender } from './contender.ts'

const LIBRARY = path.join(import.meta.dirname, 'yardstick.lua')
/** Everything it keeps begins with this; the braces keep it together in a cluster. */
const PREFIX = '{y:0}:'
const WORKER = 'bench'
const PRIORITY = 0

/** An execution's id, its epoch and its payload. */
type Claimed = readonly [id: string, epoch: number, payload: string]

export const yardstick: Contender = {
  name: 'yardstick',
  batchSize: 1,
  open: async (server) => {
    const connection = new Redis({ host: server.address.host, port: server.address.port })
    await connection.function('LOAD', await readFile(LIBRARY, 'utf8'))
    const payload = JSON.stringify(loadOf(0))
    const held: Claimed[] = []
    return {
      create: async () => {
        const answer = await connection.fcall('h_create', 1, PREFIX, crypto.randomUUID(), LANE, PRIORITY, payload)
        expectAnswer('created', String(answer))
      },
      claim: async () => {
        const answer = (await connection.fcall('h_claim', 1, PREFIX, LANE, WORKER, LEASE_TTL_MS, 1)) as Claimed[]
        expectAnswer('1 claimed', `${answer.length} claimed`)
        held.push(...answer)
      },
      complete: async () => {
        const [id, epoch] = held.pop() ?? ['none', 0]
        const answer = (await connection.fcall('h_complete', 1, PREFIX, id, epoch, WORKER, RESULT)) as [string]
        expectAnswer('completed', answer[0])
      },
      async [Symbol.asyncDispose]() {
        await connection.quit()
      },
    }
  },
}
