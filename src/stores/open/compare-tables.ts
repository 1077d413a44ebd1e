/** Compares the tables of a store with those that the migrations make. Changes nothing. */
import { EngineError } from '../../kernel/engine-error.ts'
import type { Runtime } from '../../runtime/index.ts'
import type { TableDifference } from '../drift/compare-catalogues.ts'
import { checkPostgresOptions } from '../postgres/options/postgres-options.ts'
import type { PostgresOptions } from '../postgres/options/postgres-options.ts'
import { sqlState } from '../postgres/wire/postgres-error.ts'
import type { StoreLocation } from './location.ts'
import { loadSqlite } from './open-store.ts'

export type { TableDifference }

const PERMISSION_DENIED = '42501'

export type TableComparison =
  /** A store of this kind has none. */
  | { readonly kind: 'no_tables' }
  | { readonly kind: 'not_set_up' }
  /** The user may not create the temporary tables to compare with. */
  | { readonly kind: 'not_permitted'; readonly message: string }
  | {
      readonly kind: 'same' | 'different'
      /** The steps that the store has run: it is compared with what these make. */
      readonly version: number
      readonly differences: readonly TableDifference[]
    }

export async function compareTables(
  location: StoreLocation,
  { runtime, postgres = {} }: { readonly runtime: Runtime; readonly postgres?: PostgresOptions | undefined },
): Promise<TableComparison> {
  switch (location.kind) {
    case 'memory':
    case 'valkey':
      return { kind: 'no_tables' }
    case 'remote': {
      const message = 'The tables of a store are compared with its own location, not with the address of a server.'
      throw new EngineError('invalid_configuration', { field: 'location', message })
    }
    case 'sqlite': {
      const { compareFile } = await loadSqlite(() => import('../sqlite/file/table-catalogue.ts'))
      return outcomeOf(await compareFile(location.file, runtime))
    }
    case 'postgres': {
      checkPostgresOptions(postgres, location)
      const { compareDatabase } = await import('../postgres/schema/migrate-database.ts')
      try {
        return outcomeOf(await compareDatabase(location, postgres))
      } catch (error) {
        const cause = error instanceof EngineError ? error.cause : undefined
        if (!(cause instanceof Error) || sqlState(cause) !== PERMISSION_DENIED) throw error
        return { kind: 'not_permitted', message: cause.message }
      }
    }
  }
}

function outcomeOf(
  compared: { readonly version: number; readonly differences: readonly TableDifference[] } | undefined,
): TableComparison {
  if (compared === undefined) return { kind: 'not_set_up' }
  return { kind: compared.differences.length === 0 ? 'same' : 'different', ...compared }
}
