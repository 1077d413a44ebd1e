/** Reads the options of a tsconfig.json that affect how its modules run. Comments, trailing commas and `extends` are understood. */
import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import path from 'node:path'

/** Files that one configuration may extend, directly and indirectly. Also ends a cycle. */
const EXTENDED_MAX = 32

export interface TypeScriptOptions {
  /** Path aliases: a pattern, and absolute targets in the order in which they are tried. */
  readonly paths: ReadonlyMap<string, readonly string[]>
  /** Keeps imports of which only types are used. */
  readonly verbatimModuleSyntax: boolean
}

type Fields = Readonly<Record<string, unknown>>

interface Layer {
  readonly folder: string
  readonly options: Fields
}

/** Reads the nearest tsconfig.json at or above a folder. `onFile` gets every configuration file before it is read. */
export function readTypeScriptOptions(folder: string, onFile: (file: string) => void): TypeScriptOptions {
  const file = nearest(folder)
  const layers =
    file === undefined ? [] : layersOf(file, [], onFile).map((layer) => withFolder(layer, path.dirname(file)))
  const latest = (name: string): { readonly folder: string; readonly value: unknown } | undefined => {
    const layer = layers.findLast(({ options }) => options[name] !== undefined)
    return layer && { folder: layer.folder, value: layer.options[name] }
  }
  const baseUrl = latest('baseUrl')
  const paths = latest('paths')
  const base =
    typeof baseUrl?.value === 'string' ? path.resolve(baseUrl.folder, baseUrl.value) : (paths?.folder ?? folder)
  return {
    paths: new Map(
      Object.entries(fieldsOf(paths?.value)).map(([pattern, targets]) => [
        pattern,
        (Array.isArray(targets) ? targets : [])
          .filter((target) => typeof target === 'string')
          .map((target) => path.resolve(base, target)),
      ]),
    ),
    verbatimModuleSyntax: latest('verbatimModuleSyntax')?.value === true,
  }
}

function nearest(folder: string): string | undefined {
  const file = path.join(folder, 'tsconfig.json')
  if (existsSync(file)) return file
  const parent = path.dirname(folder)
  return parent === folder ? undefined : nearest(parent)
}

/** The compiler options of a file after those of the files that it extends. Later layers override earlier ones. */
function layersOf(file: string, files: string[], onFile: (file: string) => void): Layer[] {
  if (files.length >= EXTENDED_MAX) throw new Error(`${file}: more than ${EXTENDED_MAX} files are extended.`)
  files.push(file)
  onFile(file)
  const content = fieldsOf(parse(file))
  const folder = path.dirname(file)
  const extended = [content.extends].flat().filter((name) => typeof name === 'string')
  return [
    ...extended.flatMap((name) => layersOf(extendedFile(name, file), files, onFile)),
    { folder, options: fieldsOf(content.compilerOptions) },
  ]
}

/** `${configDir}` stands for the folder of the configuration that extends the others. */
function withFolder({ folder, options }: Layer, root: string): Layer {
  const quoted = JSON.stringify(root).slice(1, -1)
  return { folder, options: fieldsOf(JSON.parse(JSON.stringify(options).replaceAll('${configDir}', () => quoted))) }
}

function extendedFile(name: string, from: string): string {
  if (!/^\.{0,2}[/\\]/.test(name) && !path.isAbsolute(name)) {
    const { resolve } = createRequire(from)
    for (const candidate of [`${name}/tsconfig.json`, `${name}.json`, name]) {
      try {
        return resolve(candidate)
      } catch {
        // The next form of the name is tried.
      }
    }
    throw new Error(`${from}: cannot find ${name}, which it extends.`)
  }
  const file = path.resolve(path.dirname(from), name)
  return existsSync(file) || file.endsWith('.json') ? file : `${file}.json`
}

function parse(file: string): unknown {
  try {
    return JSON.parse(withoutComments(readFileSync(file, 'utf8')))
  } catch (error) {
    throw new Error(`${file}: ${error instanceof Error ? error.message : String(error)}`, { cause: error })
  }
}

/** Turns JSON with comments and trailing commas into JSON. Strings are kept as they are. */
export function withoutComments(text: string): string {
  const string = /"(?:[^"\\]|\\.)*"/
  const comment = /\/\/[^\n]*|\/\*[^]*?\*\//
  const plain = text
    .replace(/^\uFEFF/, '')
    .replace(new RegExp(`(${string.source})|${comment.source}`, 'g'), (_, kept: string | undefined) => kept ?? ' ')
  return plain.replace(
    new RegExp(`(${string.source})|,(?=\\s*[}\\]])`, 'g'),
    (_, kept: string | undefined) => kept ?? '',
  )
}

function fieldsOf(value: unknown): Fields {
  return typeof value === 'object' && value !== null ? (value as Fields) : {}
}
