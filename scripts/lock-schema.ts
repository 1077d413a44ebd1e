/**
 * Writes src/kernel/model/schema.lock.json, the stored form of all records and events. Refuses a change that would make stored
 * records unreadable, unless DATA_VERSION was raised.
 */
import { readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { format, resolveConfig } from 'prettier'
import { root } from './run.ts'
import { compareLocks, currentLock } from './schema-form.ts'
import type { SchemaLock } from './schema-form.ts'

const file = path.join(root, 'src/kernel/model/schema.lock.json')
const current = currentLock()
const verdict = compareLocks(JSON.parse(await readFile(file, 'utf8')) as SchemaLock, current)

switch (verdict.kind) {
  case 'same':
    console.log('The schema is as it was locked.')
    break
  case 'incompatible':
    console.error(verdict.text)
    process.exitCode = 1
    break
  case 'appended':
  case 'raised':
    await writeFile(file, await format(JSON.stringify(current), { ...(await resolveConfig(file)), filepath: file }))
    console.log('src/kernel/model/schema.lock.json written')
}
