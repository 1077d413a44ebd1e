import { describe, expect, test } from 'vitest'
import { DATA_VERSION } from '../../../kernel/index.ts'
import type { EngineError } from '../../../kernel/engine-error.ts'
import { programLevels } from '../../level/store-level.ts'
import { migrations } from './migrations.ts'
import type { Session } from '../wire/session.ts'
import { findSettings, setUp } from './settings.ts'

const NOTHING = { executionPartitions: undefined, indexedTags: undefined, levels: programLevels }

type Meta = Readonly<Record<string, string>>

const meta: Meta = {
  schema_version: String(migrations.length),
  data_version: String(DATA_VERSION),
  execution_partitions: '4',
  indexed_tags: '["plan"]',
  lock_space: '7',
}

/** A server with a store whose table `meta` holds this. */
function storeWith(rows: Meta, columnCount = 2): Session {
  return {
    query: async (text) => {
      if (text.includes('pg_namespace')) {
        return [{ schema_count: 1, relation_count: 9, meta_column_count: columnCount }]
      }
      if (text.includes('select name, value')) return Object.entries(rows).map(([name, value]) => ({ name, value }))
      return []
    },
  }
}

async function refusalOf(work: Promise<unknown>): Promise<EngineError> {
  return await work.then(
    () => expect.fail('it was accepted'),
    (error: unknown) => error as EngineError,
  )
}

describe('the settings of a store', () => {
  test('are what it was set up with', async () => {
    const settings = {
      executionPartitions: 4,
      limitPartitions: 4,
      level: undefined,
      indexedTags: ['plan'],
      lockSpace: 7,
    }

    expect(await findSettings(storeWith(meta), 'mine', NOTHING)).toEqual(settings)
    expect(
      await findSettings(storeWith(meta), 'mine', {
        ...NOTHING,
        executionPartitions: 4,
        indexedTags: ['plan', 'plan'],
      }),
    ).toEqual(settings)
  })

  test('do not exist yet in tables that were created and never used', async () => {
    const { schema_version = '' } = meta
    expect(await findSettings(storeWith({ schema_version }), 'mine', NOTHING)).toBeUndefined()
  })

  test.each<[Meta, string, string]>([
    [{ schema_version: '999' }, 'newer_schema', 'schema version 999, this program knows schema version'],
    [{ data_version: '999' }, 'newer_schema', 'data version 999, this program knows data version'],
    [{ level: '999' }, 'newer_schema', 'level 999, this program can run a store up to level'],
    [{ level: '"one"' }, 'corruption', 'level "one"'],
    [{ schema_version: 'one' }, 'invalid_configuration', 'tables of another program'],
    [{ schema_version: '0' }, 'invalid_configuration', 'tables of another program'],
    [{ data_version: 'x' }, 'corruption', '"data_version" of mine.meta'],
    [{ execution_partitions: '0' }, 'corruption', '"execution_partitions" of mine.meta'],
    [{ execution_partitions: '2.5' }, 'corruption', '"execution_partitions" of mine.meta'],
    [{ lock_space: '"7"' }, 'corruption', '"lock_space" of mine.meta'],
    [{ indexed_tags: '"plan"' }, 'corruption', '"indexed_tags" of mine.meta'],
    [{ indexed_tags: '[7]' }, 'corruption', '"indexed_tags" of mine.meta'],
  ])('are refused with %j in the table', async (changes, code, part) => {
    const error = await refusalOf(findSettings(storeWith({ ...meta, ...changes }), 'mine', NOTHING))

    expect(error.code).toBe(code)
    expect(error.message).toContain(part)
  })

  test('are refused where the table is that of another program', async () => {
    const error = await refusalOf(findSettings(storeWith(meta, 1), 'mine', NOTHING))

    expect([error.code, error.detail.field]).toEqual(['invalid_configuration', 'location'])
    expect(error.message).toContain('The schema "mine" holds tables of another program')
  })

  test('of an older version are refused by everyone but a migration, with both versions and what to run', async () => {
    const steps = [...migrations, { title: 'more', sql: 'select 1;' }]
    const session = storeWith(meta)

    for (const work of [
      findSettings(session, 'mine', NOTHING, steps),
      setUp(session, { schema: 'mine' }, NOTHING, steps),
    ]) {
      const error = await refusalOf(work)
      expect(error.code).toBe('older_schema')
      expect(error.message).toContain(`schema version ${migrations.length}, this program needs schema version`)
      expect(error.advice).toContain('flowfabric migrate')
    }
  })
})
