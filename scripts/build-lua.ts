/**
 * Compiles the kernel to one Lua file each for the stores and for the table test. Any diagnostic of the compiler ends the
 * build: a warning here is a difference between the two languages.
 */
import { mkdir, writeFile } from 'node:fs/promises'
import path from 'node:path'
import ts from 'typescript'
import * as tstl from 'typescript-to-lua'
import { root } from './run.ts'

const bundles = [
  { entry: 'src/kernel/index.ts', out: 'dist/lua/kernel.lua' },
  { entry: 'test/table/lua-entry.ts', out: 'dist/lua/table.lua' },
]

const BUNDLE = 'bundle.lua'

function refuse(diagnostics: readonly ts.Diagnostic[], entry: string): void {
  if (diagnostics.length === 0) return
  const text = ts.formatDiagnostics(diagnostics, {
    getCurrentDirectory: () => root,
    getCanonicalFileName: (name) => name,
    getNewLine: () => '\n',
  })
  throw new Error(`${entry} does not compile to Lua:\n${text}`)
}

/** Compiles a module and all that it imports to the text of one Lua chunk, which returns what the module exports. */
export function compileLua(entry: string): string {
  const config = tstl.parseConfigFileWithSystem(path.join(root, 'tsconfig.lua.json'))
  refuse(config.errors, entry)
  const entryFile = path.resolve(root, entry)
  const options = { ...config.options, luaBundle: BUNDLE, luaBundleEntry: entryFile }
  let text: string | undefined
  const result = tstl.transpileFiles([entryFile], options, (file, data) => {
    if (path.basename(file) === BUNDLE) text = data
  })
  refuse(result.diagnostics, entry)
  if (text === undefined) throw new Error(`${entry}: the compiler wrote no bundle.`)
  return text
}

/** Compiles a module to a Lua file. Both paths are relative to the root of the repository. Answers the file's full path. */
export async function buildLua(entry: string, out: string): Promise<string> {
  const text = compileLua(entry)
  const file = path.resolve(root, out)
  await mkdir(path.dirname(file), { recursive: true })
  await writeFile(file, text)
  return file
}

if (import.meta.main) {
  for (const { entry, out } of bundles) {
    try {
      await buildLua(entry, out)
      console.log(`${entry} -> ${out}`)
    } catch (error) {
      console.error(error instanceof Error ? error.message : error)
      process.exitCode = 1
    }
  }
}
