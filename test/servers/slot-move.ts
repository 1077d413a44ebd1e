/** Moves a slot from one primary to another while the cluster serves clients, the way an operator's tool does it. */
import type { Server } from './server.ts'

const KEYS_PER_PAGE = 16
const PAGE_LIMIT_MS = 30_000

/** More pages than any test has keys for; more of them means that keys come faster than they go. */
const PAGES = 100_000

export interface SlotMove {
  readonly slot: number
  readonly from: { readonly id: string; readonly node: Server }
  readonly to: { readonly id: string; readonly node: Server }
  readonly otherPrimaries: readonly Server[]
}

/** Moves up to `limit` keys and answers how many there were. */
async function moveKeys({ slot, from, to }: SlotMove, limit: number): Promise<number> {
  const keys = (await from.node.callForBytes('CLUSTER', 'GETKEYSINSLOT', slot, limit)) as Buffer[]
  if (keys.length === 0) return 0
  const { host, port } = to.node.address
  await from.node.call('MIGRATE', host, port, '', 0, PAGE_LIMIT_MS, 'KEYS', ...keys)
  return keys.length
}

async function moveHalf(move: SlotMove): Promise<void> {
  const count = Number(await move.from.node.call('CLUSTER', 'COUNTKEYSINSLOT', move.slot))
  for (let left = Math.floor(count / 2); left > 0;) {
    const moved = await moveKeys(move, Math.min(left, KEYS_PER_PAGE))
    if (moved === 0) return
    left -= moved
  }
}

async function moveRest(move: SlotMove): Promise<void> {
  for (let page = 0; page < PAGES; page++) {
    if ((await moveKeys(move, KEYS_PER_PAGE)) === 0) return
  }
  throw new Error(`Slot ${move.slot} does not run empty.`)
}

/** Announces the move, moves half of the keys, runs `halfway`, moves the rest and gives the slot away. */
export async function carryOut(move: SlotMove, halfway: () => Promise<void>): Promise<void> {
  const { slot, from, to, otherPrimaries } = move
  await to.node.call('CLUSTER', 'SETSLOT', slot, 'IMPORTING', from.id)
  await from.node.call('CLUSTER', 'SETSLOT', slot, 'MIGRATING', to.id)
  await moveHalf(move)
  await halfway()
  await moveRest(move)
  // The new owner is notified first: if the old one were, clients would be sent back and forth between them.
  for (const node of [to.node, from.node, ...otherPrimaries]) {
    await node.call('CLUSTER', 'SETSLOT', slot, 'NODE', to.id)
  }
}
