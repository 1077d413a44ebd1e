/** A real sentinel on the loopback address. It watches one server and replaces it by a replica. */
import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { LocalServer } from './local-server.ts'
import type { StartResult } from './local-server.ts'
import { startInPlace } from './place.ts'
import type { Place } from './place.ts'
import type { Server } from './server.ts'
import { startProcess } from './server-process.ts'
import type { Launch, ServerProcess } from './server-process.ts'

/** How long a server is silent before the sentinel replaces it. */
const SILENCE_MS = 1_000

export class Sentinel extends LocalServer<ServerProcess> {
  readonly #launch: Launch

  constructor(launch: Launch, place: Place, process: ServerProcess) {
    super(place, process)
    this.#launch = launch
  }

  /** The address in the form in which a program names its store. */
  get location(): string {
    return `valkey-sentinel://127.0.0.1:${this.port}/watched`
  }

  protected start(occupy: Place['occupy']): Promise<StartResult<ServerProcess>> {
    return startProcess(this.#launch, occupy)
  }
}

/** Starts one that decides alone. */
export function startSentinel(watched: Server): Promise<Sentinel> {
  return startInPlace(async (place) => {
    const file = path.join(place.folder, 'sentinel.conf')
    const lines = [
      `port ${place.port}`,
      'bind 127.0.0.1',
      `dir ${place.folder}`,
      `sentinel monitor watched 127.0.0.1 ${watched.port} 1`,
      `sentinel down-after-milliseconds watched ${SILENCE_MS}`,
      'sentinel failover-timeout watched 5000',
    ]
    await writeFile(file, `${lines.join('\n')}\n`)
    const launch: Launch = {
      program: 'valkey-server',
      args: [file, '--sentinel'],
      readyText: '+monitor master watched',
    }
    const started = await startProcess(launch, place.occupy)
    return started.kind === 'ready' ? new Sentinel(launch, place, started.process) : undefined
  })
}
