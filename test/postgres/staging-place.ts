/** A store in a schema of its own, and an application beside it in the same database. Everything goes with the test. */
import { randomUUID } from 'node:crypto'
import { Client } from 'pg'
import { onTestFinished } from 'vitest'
import { task } from '../../src/client/index.ts'
import type { Log, LogFields } from '../../src/runtime/index.ts'
import { createFabric } from '../../src/fabric/fabric.ts'
import type { Fabric, FabricOptions } from '../../src/fabric/fabric.ts'
import { serverLocations } from '../servers/server-locations.ts'
import { until } from '../servers/until.ts'

/** The longest that anything here may take on a busy machine. */
export const LIMIT_MS = 60_000

export const echo = task<unknown, { readonly input: unknown }>('echo')
export const echoHandler = echo.handle((input) => ({ input }))

export interface StagedRow {
  readonly executionId: string
  readonly failure: string | null
}

export class StagingPlace {
  readonly server: string
  readonly schema: string
  readonly location: string
  /** What fabrics have logged as errors. */
  readonly errors: string[] = []

  constructor(version: 'postgres' | 'postgresNewest', settings = '') {
    const locations = serverLocations()
    if (locations === undefined) throw new Error('These tests cannot do without servers.')
    this.server = locations[version]
    this.schema = `staging_${randomUUID().replaceAll('-', '_')}`
    this.location = `${this.server}?schema=${this.schema}${settings}`
    onTestFinished(() => this.#remove())
  }

  /** A fabric that is closed when the test ends, if the test has not closed it. */
  async fabric(options: FabricOptions = {}): Promise<Fabric> {
    const fabric = await createFabric(this.location, { log: this.#log(), ...options })
    onTestFinished(() => fabric.close({ drain: 0 }))
    return fabric
  }

  /** The application's own connection. */
  async client(location = this.server): Promise<Client> {
    const client = new Client({ connectionString: location })
    // The next use of the connection reports its end.
    client.on('error', () => undefined)
    await client.connect()
    onTestFinished(() => client.end())
    return client
  }

  /** What is staged and visible to others. */
  async inbox(): Promise<StagedRow[]> {
    const client = await this.client()
    const { rows } = await client.query<{ execution_id: string; failure: string | null }>(
      `select execution_id, failure from ${this.schema}.inbox order by id`,
    )
    await client.end()
    return rows.map(({ execution_id: executionId, failure }) => ({ executionId, failure }))
  }

  /** Resolves once nothing is left that waits to become an execution. */
  untilTaken(): Promise<true> {
    return until('everything staged has been taken', LIMIT_MS, async () =>
      (await this.inbox()).every(({ failure }) => failure !== null) ? true : undefined,
    )
  }

  #log(): Log {
    const ignore = () => undefined
    const keep = ({ reason }: LogFields, message: string) => void this.errors.push(`${message}: ${String(reason)}`)
    return { debug: ignore, info: ignore, warn: ignore, error: keep }
  }

  async #remove(): Promise<void> {
    const client = new Client({ connectionString: this.server })
    await client.connect()
    await client.query(`drop schema if exists ${this.schema} cascade`)
    await client.end()
  }
}

/** Runs statements between a `begin` and a `commit`. */
export async function commit<T>(client: Client, work: () => Promise<T>, begin = 'begin'): Promise<T> {
  await client.query(begin)
  const value = await work()
  await client.query('commit')
  return value
}
