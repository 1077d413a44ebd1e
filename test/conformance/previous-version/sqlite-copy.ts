/** The content of a SQLite file as SQL text. */
import { DatabaseSync } from 'node:sqlite'

const PRAGMAS = ['application_id', 'user_version']

export function copySqlite(file: string): string {
  const database = new DatabaseSync(file, { readOnly: true })
  try {
    const objects = database
      .prepare(`select type, name, sql from sqlite_master where sql is not null order by rowid`)
      .all()
    const tables = objects.filter(({ type }) => type === 'table')
    const pragmas = PRAGMAS.map(
      (name) => `pragma ${name} = ${literal(Object.values(database.prepare(`pragma ${name}`).get()!)[0]!)}`,
    )
    const rows = tables.flatMap(({ name }) =>
      database
        .prepare(`select * from "${String(name)}"`)
        .all()
        .map((row) => {
          return `insert into "${String(name)}" values (${Object.values(row).map(literal).join(', ')})`
        }),
    )
    return [...pragmas, ...objects.map(({ sql }) => String(sql)), ...rows]
      .map((statement) => `${statement};\n`)
      .join('')
  } finally {
    database.close()
  }
}

function literal(value: unknown): string {
  if (value === null) return 'null'
  if (typeof value === 'number' || typeof value === 'bigint') return String(value)
  if (value instanceof Uint8Array) return `x'${Buffer.from(value).toString('hex')}'`
  return typeof value === 'string' ? `cast(x'${Buffer.from(value).toString('hex')}' as text)` : fail(value)
}

function fail(value: unknown): never {
  throw new Error(`A SQLite value of type ${typeof value} cannot be written as text.`)
}

export function restoreSqlite(file: string, content: string): void {
  const database = new DatabaseSync(file)
  try {
    database.exec(`pragma foreign_keys = off; begin; ${content} commit`)
  } finally {
    database.close()
  }
}
