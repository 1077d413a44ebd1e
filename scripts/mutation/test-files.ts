/** The test files that mutants are tried with, in their order: the most specific first, because most mutants are killed early. */
import { globSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { root } from '../run.ts'

/** Suites that run in one process on the memory store. Those of servers, processes and random walks would take too long. */
const ORDER = [
  'src/kernel/**/*.test.ts',
  'test/mutation/*.test.ts',
  'test/table/{claiming,listing,looking,purging,reconciling,reconciling-journals,time}.test.ts',
  'test/conformance/*.test.ts',
  'src/engine/scanners/*.test.ts',
  'test/properties/conditions.test.ts',
]

/** Tests of programs around the kernel: they reach the whole kernel, and kill nothing there that the others leave. */
const AROUND = ['src/client/**/*.test.ts', 'src/fabric/*.test.ts', 'src/worker/*.test.ts']

const SERVER_TEST = /(^|[./])(valkey|postgres)\.test\.ts$/

/** The tests beside the mutated sources come before all others. Only tests that import a mutated source are used. */
export function testFilesFor(sources: readonly string[]): string[] {
  const folders = [...new Set(sources.map((source) => path.dirname(source)))]
  const isKernel = sources.every((source) => source.startsWith('src/kernel/'))
  const patterns = [...folders.map((folder) => `${folder}/*.test.ts`), ...ORDER, ...(isKernel ? [] : AROUND)]
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
