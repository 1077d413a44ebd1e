import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core'
import { publint } from 'publint'
import { formatMessage } from 'publint/utils'
import { expect, test } from 'vitest'
import { installInto, packInto } from './packed-package.ts'
import type { PackedPackage } from './packed-package.ts'
import { root, sharedWorkplace, workplace } from './workplace.ts'

/** Bounds of the published package. A change that passes one is worth a look at what it adds. */
const PACKED_BYTES_MAX = 1_600_000
const UNPACKED_BYTES_MAX = 6_200_000

/** The check of types parses the whole package with a compiler. */
const LIMIT_MS = 120_000

/** Resolutions that an ES module for current Node does not have. */
const OLD_RESOLUTIONS = ['node10', 'node16-cjs']

let packed: PackedPackage
sharedWorkplace(async (place) => {
  packed = await packInto(place.folder)
})

test('the package has what it exports and nothing of the repository, within its size', async () => {
  const { files, bytes, unpackedBytes } = packed

  const outside = files.filter((file) => !file.startsWith('dist/'))
  expect(outside.sort()).toEqual(['LICENSE', 'README.md', 'package.json'])
  expect(files.filter((file) => /[.](test|fixture)[.]|[.]map$|tsbuildinfo/.test(file))).toEqual([])
  expect(files).toEqual(
    expect.arrayContaining(['dist/index.js', 'dist/index.d.ts', 'dist/cli/main.js', 'dist/ui/index.html']),
  )
  expect(bytes).toBeLessThan(PACKED_BYTES_MAX)
  expect(unpackedBytes).toBeLessThan(UNPACKED_BYTES_MAX)
})

test('bundlers, Node and the compiler find every export with its types', { timeout: LIMIT_MS }, async () => {
  const data = new Uint8Array(await readFile(packed.tarball))

  const { messages, pkg } = await publint({ pack: { tarball: data.buffer }, strict: true })
  const types = await checkPackage(createPackageFromTarballData(data))

  expect(messages.map((message) => formatMessage(message, pkg))).toEqual([])
  if (types.types === false) expect.fail('the package has no types')
  const problems = types.problems.filter(
    (problem) => !('resolutionKind' in problem) || !OLD_RESOLUTIONS.includes(problem.resolutionKind),
  )
  expect(problems).toEqual([])
})

test('a program on SQLite runs without the drivers of servers, and one on a server reports its missing driver', async () => {
  const place = await workplace()
  await installInto(place.folder, packed.tarball, (name) => !['ioredis', 'pg'].includes(name))
  await place.write('package.json', '{ "type": "module" }')
  await place.write(
    'program.js',
    `import { createFabric, task } from 'flowfabric'
    const double = task('double')
    const fabric = await createFabric(process.argv[2])
    await fabric.work([double.handle((n) => 2 * n)])
    const execution = await fabric.submit(double, 21)
    console.log(await execution.result())
    await fabric.close()`,
  )

  const embedded = await place.startNode(['program.js', 'sqlite:./fabric.db']).end()
  const valkey = await place.startNode(['program.js', 'valkey://127.0.0.1:1']).end()
  const postgres = await place.startNode(['program.js', 'postgres://127.0.0.1:1/shop']).end()
  const mcp = await place.startNode(['node_modules/flowfabric/dist/cli/main.js', 'mcp', 'program.js']).end()

  expect(embedded).toMatchObject({ code: 0, stdout: '42\n' })
  expect(valkey.stderr).toContain(`'ioredis'`)
  expect(postgres.stderr).toContain(`'pg'`)
  expect(mcp.stderr).toContain('npm install @modelcontextprotocol/server')
})

test('a stack trace names functions of the package and shows readable lines', async () => {
  const place = await workplace()
  await installInto(place.folder, packed.tarball)
  await place.write('package.json', '{ "type": "module" }')
  await place.write('program.js', `import { createFabric } from 'flowfabric'\nawait createFabric('nowhere://shop')`)

  const { stderr } = await place.startNode(['program.js']).end()

  const [, file = '', line = ''] = /at (?:async )?createFabric \((file:[^)]*?):(\d+):\d+\)/.exec(stderr) ?? []
  expect(file, stderr).toContain('/node_modules/flowfabric/dist/')
  const text = await readFile(new URL(file), 'utf8')
  expect(text.split('\n')[Number(line) - 1]).toMatch(/^\s.*\b[A-Za-z]{5,}\(/)
  expect(text).not.toContain('sourceMappingURL=')
})

test('what is published names its licence, its repository and the versions of Node that it runs on', async () => {
  const manifest = JSON.parse(await readFile(path.join(root, 'package.json'), 'utf8')) as Record<string, unknown>

  expect(manifest).toMatchObject({
    license: 'Apache-2.0',
    repository: { type: 'git', url: expect.stringMatching(/^git\+https:/) as unknown },
    engines: { node: '>=22.13' },
  })
  expect(manifest['private']).toBeUndefined()
})
