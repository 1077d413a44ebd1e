/** Migrates the tables of a store over a connection of its own. */
import { Connection } from '../wire/connection.ts'
import type { ConnectionSettings } from '../options/postgres-options.ts'
import { migrate } from './migrate.ts'
import type { MigrateOptions, MigrationPlan } from './migrate.ts'
import { asEngineError } from '../wire/postgres-error.ts'
import type { PostgresLocation } from '../options/postgres-location.ts'
import { checkServer } from '../boot/server-check.ts'

export async function migrateDatabase(
  location: PostgresLocation,
  settings: ConnectionSettings,
  options: MigrateOptions,
): Promise<MigrationPlan> {
  const connection = await Connection.open(location, settings)
  try {
    await checkServer(connection)
    return await migrate(connection, location.schema, options)
  } catch (error) {
    throw asEngineError(error)
  } finally {
    connection.close()
  }
}
