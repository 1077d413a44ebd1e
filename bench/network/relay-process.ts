/** The process of a delay relay. It has one of its own, so that its work is neither the client's nor the server's. */
import { serveParent } from '../processes/duties.ts'
import { DelayRelay } from './delay-relay.ts'
import type { RelayCounts, RelayTarget } from './delay-relay.ts'

export type RelayDuties = {
  readonly open: (target: RelayTarget) => Promise<number>
  readonly counts: (input: null) => Promise<RelayCounts>
}

let relay: DelayRelay | undefined

const duties: RelayDuties = {
  open: async (target) => {
    relay = new DelayRelay(target)
    return await relay.open()
  },
  counts: async () => {
    if (relay === undefined) throw new Error('The relay is not open.')
    return relay.counts
  },
}

serveParent(duties)
