/**
 * Where a server lives: two ports and a folder that no other server uses. A second folder, which is named after the port, reserves
 * the port: of two processes that choose the same one, one finds the folder there and chooses again. The
 * reservation lasts until the place is left, also while its server is down, so that the server can come back to it.
 */
import { randomInt } from 'node:crypto'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { guardFolder } from './guard.ts'

/** Below the ports that systems hand out to connections, so that no connection takes the port of a server that is down. */
const FIRST_PORT = 20_000
const PLACES = 5_000
const PORTS_PER_PLACE = 2
const TRIES = 100

/** The same for all processes, while suites keep the folders of their servers on different disks. */
const RESERVATIONS = '/tmp'

/** Other programs of the machine may have the ports that a server is given; it is started again on others. */
const START_TRIES = 20

export interface Place {
  readonly port: number
  /** A second port, for the bus of a cluster. */
  readonly busPort: number
  readonly folder: string
  /** Names the process that lives here now. When this process dies, that one is ended and the folder removed. */
  readonly occupy: (pid: number | undefined) => void
  /** Removes the folder and gives the ports back. */
  readonly leave: () => Promise<void>
}

/** Answers whether the folder is ours: it was not there before. */
async function makeFolder(folder: string): Promise<boolean> {
  try {
    await mkdir(folder, { mode: 0o700 })
    return true
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false
    throw error
  }
}

async function takePlace(): Promise<Place> {
  for (let tries = 0; tries < TRIES; tries++) {
    const port = FIRST_PORT + PORTS_PER_PLACE * randomInt(PLACES)
    const reservation = path.join(RESERVATIONS, `flowfabric-port-${port}`)
    if (!(await makeFolder(reservation))) continue

    const folder = await mkdtemp(path.join(tmpdir(), 'flowfabric-server-'))
    const guard = guardFolder(folder, reservation)
    return {
      port,
      busPort: port + 1,
      folder,
      occupy: guard.watch,
      leave: async () => {
        await rm(folder, { recursive: true, force: true })
        await rm(reservation, { recursive: true, force: true })
        guard.release()
      },
    }
  }
  throw new Error(
    `No free port was found in ${TRIES} tries. Reservations of servers that are gone may be left in ${RESERVATIONS}.`,
  )
}

/** Starts a server in a place of its own. `start` answers undefined if another program has a port of the place. */
export async function startInPlace<T>(start: (place: Place) => Promise<T | undefined>): Promise<T> {
  for (let tries = 0; tries < START_TRIES; tries++) {
    const place = await takePlace()
    try {
      const started = await start(place)
      if (started !== undefined) return started
    } catch (error) {
      await place.leave()
      throw error
    }
    await place.leave()
  }
  throw new Error(`In ${START_TRIES} tries no port was found that a server could use.`)
}
