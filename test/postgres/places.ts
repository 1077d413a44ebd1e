/** Schemas, sessions and roles on the servers of the suite, as the tests need them. What they make goes with the test. */
import { randomUUID } from 'node:crypto'
import { Client } from 'pg'
import { expect, onTestFinished } from 'vitest'
import type { EngineError } from '../../src/kernel/engine-error.ts'
import { parseLocation } from '../../src/stores/open/location.ts'
import { Connection } from '../../src/stores/postgres/wire/connection.ts'
import type { PostgresLocation } from '../../src/stores/postgres/options/postgres-location.ts'
import { serverLocations } from '../servers/server-locations.ts'

export const versions = ['postgres', 'postgresNewest'] as const
export type Version = (typeof versions)[number]

/** The superuser's location of a server of the suite. */
export function serverOf(version: Version): string {
  const locations = serverLocations()
  if (locations === undefined) throw new Error('These tests cannot do without servers.')
  return locations[version]
}

function postgresLocation(text: string): PostgresLocation {
  const location = parseLocation(text)
  if (location.kind !== 'postgres') throw new Error('This is not the location of a PostgreSQL server.')
  return location
}

export interface Place {
  readonly schema: string
  /** The schema's place, in the form in which a program names its store. */
  readonly location: string
}

/** A schema that does not exist yet. */
export function newPlace(version: Version): Place {
  const server = serverOf(version)
  const schema = `test_${randomUUID().replaceAll('-', '')}`
  onTestFinished(() => runAt(server, `drop schema if exists ${schema} cascade`))
  return { schema, location: `${server}?schema=${schema}` }
}

/** A connection that is closed when the test ends. */
export async function sessionAt(location: string): Promise<Connection> {
  const connection = await Connection.open(postgresLocation(location), {})
  onTestFinished(() => connection.close())
  return connection
}

/** Runs statements over a connection of its own. */
export async function runAt(location: string, ...statements: string[]): Promise<void> {
  const [connectionString] = location.split('?')
  const client = new Client({ connectionString })
  await client.connect()
  try {
    for (const statement of statements) await client.query(statement)
  } finally {
    await client.end()
  }
}

/** The same place for a role that has nothing but what it is granted. */
export async function asNewRole({ location }: Place): Promise<{ readonly role: string; readonly location: string }> {
  const role = `role_${randomUUID().replaceAll('-', '')}`
  await runAt(location, `create role ${role} login password 'hush'`)
  onTestFinished(() => runAt(location, `drop owned by ${role}`, `drop role ${role}`))
  return { role, location: location.replace(/\/\/[^@]*@/, `//${role}:hush@`) }
}

/** What something is refused with. */
export async function failureOf(work: Promise<unknown>): Promise<EngineError> {
  return await work.then(
    () => expect.fail('it was not refused'),
    (error: unknown) => error as EngineError,
  )
}
