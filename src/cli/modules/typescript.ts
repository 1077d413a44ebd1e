/**
 * Runs the TypeScript of a project as its build would: an import of `./x.js` finds `./x.ts`, path aliases of tsconfig.json
 * are resolved, and enums, namespaces and parameter properties are transformed. Modules in node_modules are left to Node.
 */
import { readFileSync, realpathSync, statSync } from 'node:fs'
import module from 'node:module'
import path from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { transformSync } from 'amaro'
import { readTypeScriptOptions } from './tsconfig.ts'
import type { TypeScriptOptions } from './tsconfig.ts'

const IS_TYPESCRIPT = /\.[cm]?ts$/
const IS_JAVASCRIPT = /\.([cm]?)js$/
const HAS_MODULE_SYNTAX = /^\s*(?:import|export)\b/m

/** What the parser throws. It is not an Error. */
interface ParserError {
  readonly message: string
  readonly startLine: number
  /** Counts from 0. */
  readonly startColumn: number
}

/**
 * Prepares this process to import modules of the project of a file. `onFile` gets every file of the project before it is
 * read, and every file that was looked for in vain. Returns a function that finds the place of a syntax error.
 */
export function loadProject(entry: string, onFile: (file: string) => void): () => string | undefined {
  // Node before 22.15 has no hooks: it loads JavaScript, and only the entry is known.
  onFile(entry)
  if (typeof module.registerHooks !== 'function') return () => syntaxErrorIn(entry)
  const options = readTypeScriptOptions(path.dirname(entry), onFile)
  const loaded = new Set<string>()
  // Transformed code has other lines than its source, and the errors of handlers are stored with their stacks.
  process.setSourceMapsEnabled(true)
  module.registerHooks({
    resolve(specifier, context, next) {
      const { parentURL } = context
      if (parentURL === undefined || !isOfProject(parentURL)) return next(specifier, context)
      const candidates = candidatesOf(specifier, fileURLToPath(parentURL), options)
      const found = candidates.find(isFile)
      if (found !== undefined) return resolved(found)
      for (const candidate of candidates) onFile(candidate)
      return resolveMapped(() => next(specifier, context))
    },
    load(url, context, next) {
      if (!isOfProject(url)) return next(url, context)
      const file = fileURLToPath(url)
      onFile(file)
      loaded.add(file)
      if (!IS_TYPESCRIPT.test(file)) return next(url, context)
      const text = readFileSync(file, 'utf8')
      return { format: formatOf(file, text), source: transform(file, text, options), shortCircuit: true }
    },
  })
  return () => [...loaded].map(syntaxErrorIn).find((reason) => reason !== undefined)
}

/** The reason of a syntax error in a file with its place, or undefined if the file can be parsed. */
function syntaxErrorIn(file: string): string | undefined {
  if (!IS_TYPESCRIPT.test(file) && !IS_JAVASCRIPT.test(file)) return undefined
  try {
    transformSync(readFileSync(file, 'utf8'), { mode: 'transform', filename: file })
    return undefined
  } catch (error) {
    return isParserError(error) ? placed(file, error) : undefined
  }
}

function transform(file: string, text: string, { verbatimModuleSyntax }: TypeScriptOptions): string {
  try {
    const { code, map = '' } = transformSync(text, {
      mode: 'transform',
      filename: file,
      sourceMap: true,
      transform: { verbatimModuleSyntax, nativeClassProperties: true, noEmptyExport: true },
    })
    return `${code}\n//# sourceMappingURL=data:application/json;base64,${Buffer.from(map).toString('base64')}`
  } catch (error) {
    throw isParserError(error) ? new SyntaxError(placed(file, error)) : error
  }
}

function isParserError(error: unknown): error is ParserError {
  return typeof error === 'object' && error !== null && 'startLine' in error && 'startColumn' in error
}

function placed(file: string, { message, startLine, startColumn }: ParserError): string {
  return `${file}:${startLine}:${startColumn + 1}: ${message}`
}

/** The files that an import of the project may mean before Node is asked. */
function candidatesOf(specifier: string, parent: string, { paths }: TypeScriptOptions): string[] {
  if (/^\.{1,2}\//.test(specifier)) return sourcesOf(path.resolve(path.dirname(parent), specifier))
  if (/^[a-z]+:/i.test(specifier) || path.isAbsolute(specifier)) return []
  return aliased(specifier, paths).flatMap(sourcesOf)
}

/** A file itself, and the source that is compiled to it. */
function sourcesOf(file: string): string[] {
  // A declaration has nothing to run.
  if (/\.d\.[cm]?ts$/.test(file)) return []
  return IS_JAVASCRIPT.test(file) ? [file, sourceOf(file)] : [file]
}

function sourceOf(file: string): string {
  return file.replace(IS_JAVASCRIPT, '.$1ts')
}

/** As the compiler chooses: an exact pattern, then the pattern with the longest text before its `*`. */
function aliased(specifier: string, paths: TypeScriptOptions['paths']): readonly string[] {
  const exact = paths.get(specifier)
  if (exact !== undefined) return exact
  let best: { readonly prefix: string; readonly targets: readonly string[] } | undefined
  for (const [pattern, targets] of paths) {
    const [prefix = '', suffix] = pattern.split('*')
    if (suffix === undefined || specifier.length < prefix.length + suffix.length) continue
    if (!specifier.startsWith(prefix) || !specifier.endsWith(suffix)) continue
    if (best !== undefined && best.prefix.length >= prefix.length) continue
    const middle = specifier.slice(prefix.length, specifier.length - suffix.length)
    best = { prefix, targets: targets.map((target) => target.replace('*', () => middle)) }
  }
  return best?.targets ?? []
}

/** Resolves what package.json maps (`imports`, or the package's own name) to a file of which only the source exists. */
function resolveMapped(next: () => module.ResolveFnOutput): module.ResolveFnOutput {
  try {
    return next()
  } catch (error) {
    const url = error instanceof Error && 'url' in error ? error.url : undefined
    if (typeof url !== 'string' || !isOfProject(url) || !IS_JAVASCRIPT.test(url)) throw error
    const source = sourceOf(fileURLToPath(url))
    if (!isFile(source)) throw error
    return resolved(source)
  }
}

/** Node identifies a module by its real path. */
function resolved(file: string): module.ResolveFnOutput {
  return { url: pathToFileURL(realpathSync(file)).href, shortCircuit: true }
}

function formatOf(file: string, text: string): 'module' | 'commonjs' {
  if (file.endsWith('.mts')) return 'module'
  if (file.endsWith('.cts')) return 'commonjs'
  return packageType(path.dirname(file)) === 'module' || HAS_MODULE_SYNTAX.test(text) ? 'module' : 'commonjs'
}

function packageType(folder: string): unknown {
  const file = path.join(folder, 'package.json')
  if (isFile(file)) return (JSON.parse(readFileSync(file, 'utf8')) as { type?: unknown }).type
  const parent = path.dirname(folder)
  return parent === folder ? undefined : packageType(parent)
}

function isOfProject(url: string): boolean {
  return url.startsWith('file:') && !url.includes('/node_modules/')
}

function isFile(file: string): boolean {
  return statSync(file, { throwIfNoEntry: false })?.isFile() === true
}
