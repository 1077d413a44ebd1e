/** Migrates the tables of a store, or compares them with the migrations, over a connection of its own. */
import { Connection } from '../wire/connection.ts'
import type { ConnectionSettings } from '../options/postgres-options.ts'
import { migrate } from './migrate.ts'
import type { MigrateOptions, MigrationPlan } from './migrate.ts'
import { asEngineError } from '../wire/postgres-error.ts'
import type { PostgresLocation } from '../options/postgres-location.ts'
import { checkServer } from '../boot/server-check.ts'
import { compareSchema } from './table-catalogue.ts'
import type { SchemaComparison } from './table-catalogue.ts'

export async function migrateDatabase(
  location: PostgresLocation,
  settings: ConnectionSettings,
  options: MigrateOptions,
): Promise<MigrationPlan> {
  return await onServer(location, settings, (connection) => migrate(connection, location.schema, options))
}

export async function compareDatabase(
  location: PostgresLocation,
  settings: ConnectionSettings,
): Promise<SchemaComparison | undefined> {
  return await onServer(location, settings, (connection) => compareSchema(connection, location.schema))
}

async function onServer<T>(
  location: PostgresLocation,
  settings: ConnectionSettings,
  use: (connection: Connection) => Promise<T>,
): Promise<T> {
  const connection = await Connection.open(location, settings)
  try {
    await checkServer(connection)
    return await use(connection)
  } catch (error) {
    throw asEngineError(error)
  } finally {
    connection.close()
  }
}
