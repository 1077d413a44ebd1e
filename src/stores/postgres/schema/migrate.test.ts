import { describe, expect, test } from 'vitest'
import type { EngineError } from '../../../kernel/engine-error.ts'
import { migrate, underLock } from './migrate.ts'
import { migrations } from './migrations.ts'
import type { Session } from '../wire/session.ts'

/** A server that records its statements, and answers as a store of some version would. */
class Told implements Session {
  readonly statements: string[] = []
  readonly #version: number
  /** What becomes of a transaction, in the server's words. */
  readonly #status: string
  readonly #refused: RegExp | undefined

  constructor({ version = 0, status = 'committed', refused }: { version?: number; status?: string; refused?: RegExp }) {
    this.#version = version
    this.#status = status
    this.#refused = refused
  }

  readonly query: Session['query'] = async (text) => {
    this.statements.push(text.trim())
    if (this.#refused?.test(text) === true) throw new Error('refused')
    if (text.includes('pg_namespace')) {
      const count = this.#version === 0 ? 0 : 1
      return [{ schema_count: count, relation_count: 9 * count, meta_column_count: 2 * count }]
    }
    if (text.includes('select name, value')) return [{ name: 'schema_version', value: String(this.#version) }]
    if (text.includes('pg_current_xact_id')) return [{ id: '7' }]
    if (text.includes('pg_xact_status')) return [{ status: this.#status }]
    return []
  }
}

async function failureOf(work: Promise<unknown>): Promise<EngineError> {
  return await work.then(
    () => expect.fail('it was accepted'),
    (error: unknown) => error as EngineError,
  )
}

const steps = [
  { title: 'one', sql: '\n  create table $schema.a (\n    b text\n  );\n\n  create table $schema.c (d text);\n' },
  { title: 'two', sql: "\n  update $schema.a set b = ';';\n" },
]

describe('a migration', () => {
  test('runs what is missing, statement by statement, in one transaction under a lock that stands alone', async () => {
    const session = new Told({})

    const { from, to, steps: run } = await migrate(session, 'mine', { steps })

    expect([from, to]).toEqual([0, 2])
    expect(run.map(({ title }) => title)).toEqual(['create the schema mine', 'one', 'two', 'note schema version 2'])
    expect(session.statements.filter((text) => !text.includes('pg_namespace'))).toEqual([
      'begin isolation level read committed read write',
      expect.stringContaining('statement_timeout'),
      'select pg_advisory_xact_lock(hashtextextended($1, 0))',
      'create schema "mine"',
      'create table "mine".a (\n  b text\n)',
      'create table "mine".c (d text)',
      `update "mine".a set b = ';'`,
      expect.stringContaining('insert into "mine".meta'),
      expect.stringContaining('pg_current_xact_id'),
      'commit',
      expect.stringContaining('pg_xact_status'),
    ])
  })

  test('of a store that has run some steps already runs the others', async () => {
    const session = new Told({ version: 1 })

    const { from, to, steps: run } = await migrate(session, 'mine', { steps })

    expect([from, to, run.map(({ title }) => title)]).toEqual([1, 2, ['two', 'note schema version 2']])
    expect(session.statements.filter((text) => text.startsWith('create'))).toEqual([])
  })

  test('of a store that is up to date writes nothing', async () => {
    const session = new Told({ version: 2 })

    expect(await migrate(session, 'mine', { steps })).toEqual({ from: 2, to: 2, steps: [] })
    expect(session.statements.filter((text) => /^(create|insert|update)/.test(text))).toEqual([])
  })

  test('as a dry run returns the statements that it would run, as a person would write them, and runs nothing', async () => {
    const session = new Told({})

    const { steps: shown } = await migrate(session, 'mine', { isDryRun: true, steps })

    expect(shown).toEqual([
      { title: 'create the schema mine', sql: 'create schema "mine";' },
      { title: 'one', sql: 'create table "mine".a (\n  b text\n);\n\ncreate table "mine".c (d text);' },
      { title: 'two', sql: `update "mine".a set b = ';';` },
      { title: 'note schema version 2', sql: expect.stringContaining(`values ('schema_version', '2')`) as unknown },
    ])
    expect(session.statements.filter((text) => !text.startsWith('select'))).toEqual([])
  })

  test('of a store of a newer version is refused with both versions', async () => {
    for (const isDryRun of [true, false]) {
      const session = new Told({ version: 3 })
      const error = await failureOf(migrate(session, 'mine', { isDryRun, steps }))

      expect(error.code).toBe('newer_schema')
      expect(error.message).toContain('schema version 3, this program knows schema version 2')
      expect(session.statements).not.toContain('commit')
    }
  })

  test('that fails halfway is rolled back, and its error is thrown', async () => {
    const session = new Told({ refused: /"mine"\.c/ })

    expect((await failureOf(migrate(session, 'mine', { steps }))).message).toBe('refused')
    expect(session.statements.at(-1)).toBe('rollback')
    expect(session.statements).not.toContain('commit')
  })

  test('whose commit took everything back without a word is no success', async () => {
    const error = await failureOf(migrate(new Told({ status: 'aborted' }), 'mine', { steps }))

    expect(error.code).toBe('store_unavailable')
    expect(error.message).toContain('rolled the migration back')
  })

  test('on a connection that breaks throws the first error', async () => {
    const session = new Told({ refused: /set_config|rollback/ })

    await expect(underLock(session, 'mine', async () => 'done')).rejects.toThrow('refused')
  })
})

describe('the steps of a store', () => {
  test('have a title each, and only statements that end with a line', async () => {
    const { steps: shown } = await migrate(new Told({}), 'mine', { isDryRun: true })

    expect(shown).toHaveLength(migrations.length + 2)
    for (const { title, sql } of shown) {
      expect(title).toMatch(/^[a-z].*[^.]$/)
      expect(sql).toMatch(/;$/)
      expect(sql).not.toContain('$schema')
      expect(sql).not.toMatch(/;[^\n]/)
    }
  })
})
