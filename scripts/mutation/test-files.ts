/** The test files that mutants are tried with, in their order: the most specific first, because most mutants are killed early. */
import { globSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { root } from '../run.ts'

/**
 * The tests of the kernel that run in one process on the memory store. Suites of servers, processes and random walks would take too
 * long, and tests of the programs around the kernel reach all of it and kill nothing there that these leave.
 */
const OF_KERNEL = [
  'src/kernel/**/*.test.ts',
  'test/mutation/*.test.ts',
  'test/table/!(table|walk).test.ts',
  'test/conformance/!(table).test.ts',
  'src/engine/scanners/*.test.ts',
  'test/properties/conditions.test.ts',
]

/** The tests of the code around the kernel. */
const OF_CLIENT = ['src/client/**/*.test.ts', 'src/fabric/*.test.ts', 'test/conformance/retired-keys.test.ts']

const SERVER_TEST = /(^|[./])(valkey|postgres)\.test\.ts$/

/** The tests beside the mutated sources, and those named after one, come before all others. Only tests that import a mutated source are used. */
export function testFilesFor(sources: readonly string[]): string[] {
  const folders = [...new Set(sources.map((source) => path.dirname(source)))]
  const inKernel = sources.filter((source) => source.startsWith('src/kernel/')).length
  const patterns = [
    ...folders.map((folder) => `${folder}/*.test.ts`),
    ...sources.map((source) => `test/conformance/${path.basename(source, '.ts')}.test.ts`),
    ...(inKernel > 0 ? OF_KERNEL : []),
    ...(inKernel < sources.length ? OF_CLIENT : []),
  ]
  const files = patterns.flatMap((pattern) => globSync(pattern, { cwd: root }).sort())
  const imports = new Imports()
  return [...new Set(files)].filter((file) => {
    if (SERVER_TEST.test(file)) return false
    const all = imports.allOf(file)
    return sources.some((source) => all.has(source))
  })
}

/** The sources that a file imports, also through others. */
class Imports {
  readonly #direct = new Map<string, string[]>()

  allOf(file: string): Set<string> {
    const all = new Set([file])
    for (const reached of all) for (const imported of this.#directOf(reached)) all.add(imported)
    return all
  }

  #directOf(file: string): string[] {
    const known = this.#direct.get(file)
    if (known !== undefined) return known
    const text = file.endsWith('.ts') ? readFileSync(path.join(root, file), 'utf8') : ''
    const imported = [...text.matchAll(/^(?:import|export|\}) (?!type).*'(\.[^']+)'$/gm)].map(([, name = '']) =>
      path.join(path.dirname(file), name),
    )
    this.#direct.set(file, imported)
    return imported
  }
}
