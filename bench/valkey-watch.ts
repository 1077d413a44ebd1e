/**
 * What Valkey servers did between two moments, by their own books. Looking costs them nothing in between: their counters
 * are set to zero at the first moment and read once at the second.
 */
import type { Server } from '../test/servers/server.ts'
import type { DelayProxy } from './network/delay-proxy.ts'
import type { RelayCounts } from './network/delay-relay.ts'
import { readInfo } from './server-info.ts'
import type { ServerInfo } from './server-info.ts'

export interface CommandUse {
  readonly calls: number
  readonly micros: number
}

export interface ValkeyUse {
  readonly kind: 'valkey'
  /** By the name of the command. What functions and scripts call inside the server counts too, under its own name. */
  readonly commands: ReadonlyMap<string, CommandUse>
  /** Keys that were looked up, each key of a command for itself. */
  readonly keyReads: number
  /** Received from clients and sent to them. Counted by the proxy if there is one, else by the servers. */
  readonly bytesIn: number
  readonly bytesOut: number
  /** How long the proxy held a piece back in fact, on average. */
  readonly addedDelayMs?: number
  /** By which the log grew that a restart reads. */
  readonly aofBytes: number
  /** All threads, with everything that surrounds commands: the network, parsing, the log. */
  readonly cpuMicros: number
}

/** The looking itself. */
const RESET = 'config|resetstat'
const MICROS_PER_SECOND = 1_000_000
const SECTIONS = ['commandstats', 'stats', 'persistence', 'cpu']

const NOTHING: CommandUse = { calls: 0, micros: 0 }

export class ValkeyWatch {
  readonly #servers: readonly Server[]
  readonly #before: readonly ServerInfo[]
  readonly #proxy: DelayProxy | undefined
  readonly #passedBefore: RelayCounts | undefined

  private constructor(
    servers: readonly Server[],
    before: readonly ServerInfo[],
    proxy: DelayProxy | undefined,
    passedBefore: RelayCounts | undefined,
  ) {
    this.#servers = servers
    this.#before = before
    this.#proxy = proxy
    this.#passedBefore = passedBefore
  }

  static async begin(servers: readonly Server[], proxy?: DelayProxy): Promise<ValkeyWatch> {
    const passedBefore = await proxy?.counts()
    const before = await Promise.all(servers.map((server) => readInfo(server, SECTIONS)))
    await Promise.all(servers.map((server) => server.call('CONFIG', 'RESETSTAT')))
    return new ValkeyWatch(servers, before, proxy, passedBefore)
  }

  /** What all of them did together. */
  async end(): Promise<ValkeyUse> {
    const after = await Promise.all(this.#servers.map((server) => readInfo(server, SECTIONS)))
    const total = (value: (info: ServerInfo) => number) => after.reduce((sum, info) => sum + value(info), 0)
    const growth = (value: (info: ServerInfo) => number) =>
      total(value) - this.#before.reduce((sum, info) => sum + value(info), 0)
    return {
      kind: 'valkey',
      commands: commandUses(after),
      keyReads: total((info) => info.number('keyspace_hits') + info.number('keyspace_misses')),
      bytesIn: total((info) => info.number('total_net_input_bytes')),
      bytesOut: total((info) => info.number('total_net_output_bytes')),
      ...(await this.#passed()),
      aofBytes: growth((info) => info.number('aof_current_size')),
      cpuMicros: Math.round(growth(cpuSeconds) * MICROS_PER_SECOND),
    }
  }

  async #passed(): Promise<Partial<Pick<ValkeyUse, 'bytesIn' | 'bytesOut' | 'addedDelayMs'>>> {
    const [before, after] = [this.#passedBefore, await this.#proxy?.counts()]
    if (before === undefined || after === undefined) return {}
    return {
      bytesIn: after.bytesToServer - before.bytesToServer,
      bytesOut: after.bytesToClients - before.bytesToClients,
      addedDelayMs: (after.heldMs - before.heldMs) / Math.max(1, after.heldCount - before.heldCount),
    }
  }
}

function commandUses(infos: readonly ServerInfo[]): ReadonlyMap<string, CommandUse> {
  const uses = new Map<string, CommandUse>()
  for (const [name, values] of infos.flatMap((info) => info.lists('cmdstat_'))) {
    if (name === RESET) continue
    const use = { calls: values.get('calls') ?? 0, micros: values.get('usec') ?? 0 }
    uses.set(name, sum([uses.get(name) ?? NOTHING, use]))
  }
  return uses
}

function cpuSeconds(info: ServerInfo): number {
  return info.number('used_cpu_user') + info.number('used_cpu_sys')
}

/** Calls of functions and the time they took. */
export function functionCalls(use: ValkeyUse): CommandUse {
  return use.commands.get('fcall') ?? NOTHING
}

/** Every command, those included that functions and scripts called. */
export function allCalls(use: ValkeyUse): CommandUse {
  return sum([...use.commands.values()])
}

function sum(commands: readonly CommandUse[]): CommandUse {
  return {
    calls: commands.reduce((total, { calls }) => total + calls, 0),
    micros: commands.reduce((total, { micros }) => total + micros, 0),
  }
}
