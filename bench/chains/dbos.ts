/**
 * A chain as one writes it with DBOS: one workflow that takes durable steps, each recorded before the next begins. Its
 * steps are not queued, and a workflow stays in the process that began it, so that it has less to do than a system whose
 * links any worker may run.
 */
import { DBOS } from '@dbos-inc/dbos-sdk'
import { postgresOf } from '../bench-store.ts'
import type { ChainPeer } from './chain-peer.ts'

const RECORDED = 'select count(*)::int as count from dbos.operation_outputs'

const chain = DBOS.registerWorkflow(runLinks, { name: 'chain' })

export const dbosChains: ChainPeer = {
  name: 'dbos',
  settings: {
    dbosChain: 'one workflow of durable steps, begun in this process without a queue',
    dbosOtherOptions: 'defaults: 10 connections, notified of events, finished workflows and steps kept',
  },
  open: async (place, { length }) => {
    DBOS.setConfig({ name: 'bench', systemDatabaseUrl: place.url, logLevel: 'error' })
    await DBOS.launch()
    return {
      run: async (number) => {
        const handle = await DBOS.startWorkflow(chain)(number, length)
        return await handle.getResult()
      },
      completedLinkCount: async () => {
        const [row] = await postgresOf(place).query(RECORDED)
        return Number(row?.['count'])
      },
      [Symbol.asyncDispose]: () => DBOS.shutdown(),
    }
  },
}

async function runLinks(number: number, length: number): Promise<number> {
  let answered = number
  for (let place = 0; place < length; place++) answered = await runLink(answered, place)
  return answered
}

async function runLink(given: number, place: number): Promise<number> {
  return await DBOS.runStep(async () => given + 1, { name: `link${place}` })
}
