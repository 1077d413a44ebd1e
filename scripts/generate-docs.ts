/**
 * Generates docs/states.md and docs/errors.md from the catalogues of the kernel, docs/http-routes.md from the table of routes,
 * docs/metrics-reference.md from the definitions of metrics, docs/configuration.md from the list of settings, the types of the routes for
 * the dashboard, and the shapes of the inputs of operations.
 *
 *   node scripts/generate-docs.ts            writes them
 *   node scripts/generate-docs.ts --check    fails if they are out of date
 */
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { format, resolveConfig } from 'prettier'
import { apiTypes } from './docs/api-types.ts'
import { configurationPage } from './docs/configuration-page.ts'
import { errorsPage } from './docs/errors-page.ts'
import { inputShapes } from './docs/input-shapes.ts'
import { metricsPage } from './docs/metrics-page.ts'
import { routesPage } from './docs/routes-page.ts'
import { statesPage } from './docs/states-page.ts'
import { root } from './run.ts'

const pages = [
  { file: 'docs/states.md', write: statesPage },
  { file: 'docs/errors.md', write: errorsPage },
  { file: 'docs/configuration.md', write: configurationPage },
  { file: 'docs/http-routes.md', write: routesPage },
  { file: 'docs/metrics-reference.md', write: metricsPage },
  { file: 'dashboard/src/api/types.ts', write: apiTypes },
  { file: 'src/server/operations/input-shapes.ts', write: inputShapes },
]

async function read(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, 'utf8')
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    throw error
  }
}

const { values } = parseArgs({ options: { check: { type: 'boolean', default: false } } })
for (const page of pages) {
  const file = path.join(root, page.file)
  const text = await format(page.write(), { ...(await resolveConfig(file)), filepath: file })
  if ((await read(file)) === text) continue
  if (values.check) {
    console.error(`${page.file} is out of date. Run: npm run docs:generate`)
    process.exitCode = 1
  } else {
    await mkdir(path.dirname(file), { recursive: true })
    await writeFile(file, text)
    console.log(`${page.file} written`)
  }
}
