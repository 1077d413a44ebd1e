/** A real cluster on the loopback address: what it looks like now, and what can be done to it. */
import { layoutText, owns, viewFrom } from './cluster-view.ts'
import type { MemberView } from './cluster-view.ts'
import type { Server } from './server.ts'
import { carryOut } from './slot-move.ts'
import { until, untilAnswered } from './until.ts'

/** What happens in a cluster takes a few of its node timeouts; this is more than any of it takes on a busy machine. */
const SETTLE_LIMIT_MS = 60_000

/** How long a member is silent before the others take it for dead: short for a test of what happens when one dies. */
const QUICK_NODE_TIMEOUT_MS = 2_000
/** So long that no busy machine makes a member look dead. */
export const CALM_NODE_TIMEOUT_MS = 30_000

/** Members that are short of a core do not hand over within the five seconds that a request for it lasts, and are asked again. */
const HAND_OVER_EXPIRES_MS = 6_000

/** Whether a replica leaves it to others to replace a primary that looks dead. A hand-over on request it does all the same. */
export const NO_FAILOVER = 'cluster-replica-no-failover'

export type Role = 'primary' | 'replica'

export interface SlotMoveOptions {
  /** Runs while the slot belongs to two primaries, each with half of its keys. */
  readonly halfway?: () => Promise<void>
}

export class Cluster {
  /** All members, also those that are down. The primaries of the beginning come first. */
  readonly nodes: readonly Server[]

  constructor(nodes: readonly Server[]) {
    this.nodes = nodes
  }

  /** The ports of the primaries of the beginning. */
  get seedPorts(): readonly number[] {
    return this.nodes.slice(0, this.nodes.length / 2).map((node) => node.port)
  }

  /** The address in the form in which a program names its store. */
  get location(): string {
    return `valkey-cluster://${this.seedPorts.map((port) => `127.0.0.1:${port}`).join(',')}`
  }

  /** What the members agree upon. Throws if they do not come to agree. */
  async #view(): Promise<MemberView[]> {
    await this.untilSettled()
    return viewFrom(this.#anyRunning())
  }

  #running(): Server[] {
    return this.nodes.filter(({ state }) => state === 'running')
  }

  #anyRunning(): Server {
    const [node] = this.#running()
    if (node === undefined) throw new Error('No member of the cluster is running.')
    return node
  }

  #nodeOf({ port }: MemberView): Server {
    const node = this.nodes.find((candidate) => candidate.port === port)
    if (node === undefined) throw new Error(`No member of the cluster has port ${port}.`)
    return node
  }

  /** Throws if no primary owns it, which cannot last. */
  async slotOwner(slot: number): Promise<Server> {
    return this.#nodeOf(ownerIn(await this.#view(), slot))
  }

  async slotOf(key: string): Promise<number> {
    return Number(await this.#anyRunning().call('CLUSTER', 'KEYSLOT', key))
  }

  async roleOf(node: Server): Promise<Role> {
    return memberAt(await this.#view(), node).isPrimary ? 'primary' : 'replica'
  }

  /** The members that own slots now. */
  async primaries(): Promise<Server[]> {
    const view = await this.#view()
    return view.filter(({ slots }) => slots.length > 0).map((member) => this.#nodeOf(member))
  }

  async replicasOf(primary: Server): Promise<Server[]> {
    const view = await this.#view()
    const { id } = memberAt(view, primary)
    return view.filter(({ primaryId }) => primaryId === id).map((member) => this.#nodeOf(member))
  }

  /** Moves a slot with its keys to another primary. Clients may continue meanwhile and are redirected. */
  async moveSlot(slot: number, to: Server, { halfway = async () => undefined }: SlotMoveOptions = {}): Promise<void> {
    const view = await this.#view()
    const owner = ownerIn(view, slot)
    const target = memberAt(view, to)
    if (!target.isPrimary) throw new Error('Only a primary can own a slot.')
    if (owner.id === target.id) return
    const others = view.filter(({ isPrimary, id }) => isPrimary && id !== owner.id && id !== target.id)
    const move = {
      slot,
      from: { id: owner.id, node: this.#nodeOf(owner) },
      to: { id: target.id, node: to },
      otherPrimaries: others.map((member) => this.#nodeOf(member)).filter(({ state }) => state === 'running'),
    }
    await carryOut(move, halfway)
    await this.untilSettled()
  }

  /** Kills a primary and answers the replica that has taken its place. `restart` brings the killed one back as a replica. */
  async failOver(primary: Server): Promise<Server> {
    const successors = await this.#successorsOf(primary)
    await this.allowFailover(primary)
    await primary.kill()
    const promoted = await this.#untilPromoted(successors)
    await this.forbidFailover()
    return promoted
  }

  /**
   * From now on the replicas of this primary replace it when it is silent for a short time. No other primary is replaced then,
   * however busy the machine is.
   */
  async allowFailover(primary: Server): Promise<void> {
    for (const replica of await this.#successorsOf(primary)) await replica.call('CONFIG', 'SET', NO_FAILOVER, 'no')
    await this.#setNodeTimeout(QUICK_NODE_TIMEOUT_MS)
  }

  /** Makes the cluster what it was at first: members that are silent are waited for. */
  async forbidFailover(): Promise<void> {
    await Promise.all(this.#running().map((node) => node.call('CONFIG', 'SET', NO_FAILOVER, 'yes')))
    await this.#setNodeTimeout(CALM_NODE_TIMEOUT_MS)
  }

  /** Has a replica take the place of its primary without losing anything, and answers it. */
  async handOver(primary: Server): Promise<Server> {
    const [successor] = await this.#successorsOf(primary)
    let askedAt = -Infinity
    const ask = async (): Promise<void> => {
      if (performance.now() - askedAt < HAND_OVER_EXPIRES_MS) return
      askedAt = performance.now()
      await successor.call('CLUSTER', 'FAILOVER')
    }
    return this.#untilPromoted([successor], ask)
  }

  async #successorsOf(primary: Server): Promise<[Server, ...Server[]]> {
    const replicas = await this.replicasOf(primary)
    const [first, ...others] = replicas.filter(({ state }) => state === 'running')
    if (first === undefined) throw new Error(`No replica of the server at ${primary.port} is running.`)
    return [first, ...others]
  }

  /** `ask` is called after each look that finds none. */
  async #untilPromoted(candidates: readonly Server[], ask = () => Promise.resolve()): Promise<Server> {
    const promoted = await untilAnswered('a replica takes over', SETTLE_LIMIT_MS, async () => {
      for (const node of candidates) {
        if (node.state === 'running' && (await ownView(node)).isPrimary) return node
      }
      await ask()
      return undefined
    })
    await this.untilSettled()
    return promoted
  }

  /** Waits until all members that run agree on who owns what, serve clients, and every replica follows its primary. */
  async untilSettled(): Promise<void> {
    let problem = ''
    // A member that is loading what it copies refuses to be asked; that is a problem which passes.
    const isSettled = async (): Promise<true | undefined> => {
      problem = await this.#problem().catch(messageOf)
      return problem === '' || undefined
    }
    try {
      await until('the cluster settles', SETTLE_LIMIT_MS, isSettled)
    } catch (error) {
      throw new Error(`The cluster does not settle: ${problem}`, { cause: error })
    }
  }

  /** What is missing, in words; empty if nothing is. */
  async #problem(): Promise<string> {
    const running = this.#running()
    const views = await Promise.all(running.map(viewFrom))
    const layouts = new Set(views.map(layoutText))
    if (layouts.size !== 1) return `its members see it differently:\n${[...layouts].join('\n\n')}`
    for (const [index, node] of running.entries()) {
      const problem = await this.#problemOf(node, views[index] ?? [])
      if (problem !== '') return `${problem}, reported by the member at ${node.port}`
    }
    return ''
  }

  async #problemOf(node: Server, view: readonly MemberView[]): Promise<string> {
    if (view.length !== this.nodes.length) return `it has ${view.length} members`
    const unsound = view.find((member) => !member.isSound && this.#nodeOf(member).state === 'running')
    if (unsound !== undefined) return `the one at ${unsound.port} cannot be reached`
    const info = String(await node.call('CLUSTER', 'INFO'))
    if (!info.includes('cluster_state:ok')) return 'it serves no clients'
    if (memberAt(view, node).isPrimary || (await followsItsPrimary(node))) return ''
    return 'it has not caught up with its primary'
  }

  /** Joins the members; they exchange news at least twice in a node timeout, so that a short one makes for a short beginning. */
  async start(join: () => Promise<void>): Promise<void> {
    await this.#setNodeTimeout(QUICK_NODE_TIMEOUT_MS)
    await join()
    await this.untilSettled()
    await this.#setNodeTimeout(CALM_NODE_TIMEOUT_MS)
  }

  async #setNodeTimeout(timeoutMs: number): Promise<void> {
    await Promise.all(this.#running().map((node) => node.call('CONFIG', 'SET', 'cluster-node-timeout', timeoutMs)))
  }

  /** Ends all members for good and removes what they have kept. */
  async stop(): Promise<void> {
    await Promise.all(this.nodes.map((node) => node.stop()))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop()
  }
}

function ownerIn(view: readonly MemberView[], slot: number): MemberView {
  const owner = view.find((member) => owns(member, slot))
  if (owner === undefined) throw new Error(`No primary owns slot ${slot}.`)
  return owner
}

function memberAt(view: readonly MemberView[], node: Server): MemberView {
  const member = view.find(({ port }) => port === node.port)
  if (member === undefined) throw new Error(`The server at ${node.port} is no member of this cluster.`)
  return member
}

async function ownView(node: Server): Promise<MemberView> {
  return memberAt(await viewFrom(node), node)
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

async function followsItsPrimary(replica: Server): Promise<boolean> {
  const [, , , link] = (await replica.call('ROLE')) as unknown[]
  return link === 'connected'
}
