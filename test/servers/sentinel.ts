/** A real sentinel on the loopback address. It watches one server and replaces it by a replica. */
import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { startInPlace } from './place.ts'
import type { Place } from './place.ts'
import { Server } from './server.ts'
import { startProcess } from './server-process.ts'
import type { ServerProcess } from './server-process.ts'
import type { ServerPlan } from './server-settings.ts'
import { until } from './until.ts'

/** How long a server is silent before the sentinel replaces it: at first longer than any test, so that no busy machine causes it. */
const CALM_SILENCE_MS = 3_600_000
const QUICK_SILENCE_MS = 1_000
const DISCOVERY_LIMIT_MS = 60_000
const WATCHED = 'watched'

export class Sentinel extends Server {
  readonly #watched: Server

  constructor(plan: ServerPlan, place: Place, process: ServerProcess, watched: Server) {
    super(plan, place, process)
    this.#watched = watched
  }

  /** The address in the form in which a program names its store. */
  override get location(): string {
    return `valkey-sentinel://127.0.0.1:${this.port}/${WATCHED}`
  }

  /** Kills the watched server and has this replica take its place. Resolves before that has happened. */
  async replace(replica: Server): Promise<void> {
    await this.#untilKnown(replica)
    await this.#watched.kill()
    await this.call('SENTINEL', 'SET', WATCHED, 'down-after-milliseconds', QUICK_SILENCE_MS)
  }

  /** A sentinel learns of replicas from the server that it watches, and promotes only one that it has asked itself. */
  async #untilKnown(replica: Server): Promise<void> {
    await until('the sentinel knows the replica', DISCOVERY_LIMIT_MS, async () => {
      const replicas = (await this.call('SENTINEL', 'REPLICAS', WATCHED)) as string[][]
      const known = replicas.map(fieldsOf).find((fields) => fields['port'] === String(replica.port))
      return known?.['master-link-status'] === 'ok' || undefined
    })
  }
}

function fieldsOf(list: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(list.flatMap((name, i) => (i % 2 === 0 ? [[name, list[i + 1] ?? '']] : [])))
}

/** Starts one that decides alone. */
export function startSentinel(watched: Server): Promise<Sentinel> {
  return startInPlace(async (place) => {
    const file = path.join(place.folder, 'sentinel.conf')
    const lines = [
      `port ${place.port}`,
      'bind 127.0.0.1',
      `dir ${place.folder}`,
      `sentinel monitor ${WATCHED} 127.0.0.1 ${watched.port} 1`,
      `sentinel down-after-milliseconds ${WATCHED} ${CALM_SILENCE_MS}`,
      `sentinel failover-timeout ${WATCHED} 5000`,
    ]
    await writeFile(file, `${lines.join('\n')}\n`)
    const plan: ServerPlan = {
      program: 'valkey-server',
      args: [file, '--sentinel'],
      readyText: `+monitor master ${WATCHED}`,
      address: { ...watched.address, port: place.port },
    }
    const started = await startProcess(plan, place.occupy)
    return started.kind === 'ready' ? new Sentinel(plan, place, started.process, watched) : undefined
  })
}
