/** Compiles modules to Lua. Any diagnostic of the compiler is an error: a warning here is a difference between the languages. */
import path from 'node:path'
import ts from 'typescript'
import * as tstl from 'typescript-to-lua'
import { root } from './run.ts'

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
