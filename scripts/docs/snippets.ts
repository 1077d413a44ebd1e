/**
 * The TypeScript of the documentation, prepared for the compiler. A snippet is a part of a program, so names that it does not declare
 * come from the package, from an earlier snippet of its page, or from a list of names that all pages use alike. Any other name stands
 * for something of the reader's and has any type. So the compiler reports each call, option and field that the package does not have.
 */
import { globSync, readFileSync } from 'node:fs'
import path from 'node:path'
import ts from 'typescript'
import { root } from '../run.ts'

export interface Snippet {
  /** Where it begins, as `docs/tasks.md:17`. */
  readonly place: string
  readonly page: string
  readonly line: number
  readonly isTsx: boolean
  /** Whether a test runs it, and does not only compile it. */
  readonly runs: boolean
  readonly text: string
}

const PAGES = ['README.md', 'docs/**/*.md']

/** Marks a snippet that is not checked: `ts no-check`. */
const UNCHECKED = 'no-check'

/** Marks a snippet that is compiled and not run, because it is a part of a function or needs a service: `ts no-run`. */
const UNRUN = 'no-run'

export function snippetsOf(page: string, markdown: string): Snippet[] {
  return [...markdown.matchAll(/^```(tsx?)(?: (.*))?\n([^]*?)^```$/gm)].flatMap(
    ({ 1: language, 2: marks, 3: text = '', index }) => {
      const given = marks?.split(' ') ?? []
      if (given.includes(UNCHECKED)) return []
      const line = markdown.slice(0, index).split('\n').length + 1
      const isTsx = language === 'tsx'
      return [{ place: `${page}:${line}`, page, line, isTsx, runs: !isTsx && !given.includes(UNRUN), text }]
    },
  )
}

export function allSnippets(): Snippet[] {
  return globSync(PAGES, { cwd: root })
    .sort()
    .flatMap((page) => snippetsOf(page, readFileSync(path.join(root, page), 'utf8')))
}

/** What all pages mean by these names: a type, or an import. */
const KNOWN_NAMES: Readonly<Record<string, string>> = {
  fabric: "import('flowfabric').Fabric",
  worker: "import('flowfabric').Worker",
  ctx: "import('flowfabric').TaskContext<any, any, any>",
  execution: "import('flowfabric').ExecutionHandle<any, any, any>",
  api: "import('flowfabric/http').HttpClient",
  t: "import('flowfabric/testing').TestFabric",
  z: "import { z } from 'zod'",
  test: "import { test } from 'node:test'",
}

/** Modules whose exports a snippet may use without an import. The first that has a name provides it. */
const MODULES = { flowfabric: 'src/index.ts', 'flowfabric/testing': 'src/testing/index.ts' } as const

const options: ts.CompilerOptions = {
  target: ts.ScriptTarget.ES2024,
  lib: ['lib.es2024.d.ts', 'lib.esnext.disposable.d.ts'],
  module: ts.ModuleKind.ESNext,
  moduleResolution: ts.ModuleResolutionKind.Bundler,
  moduleDetection: ts.ModuleDetectionKind.Force,
  jsx: ts.JsxEmit.ReactJSX,
  types: ['node'],
  allowImportingTsExtensions: true,
  noEmit: true,
  strict: true,
  noImplicitAny: false,
  exactOptionalPropertyTypes: true,
  skipLibCheck: true,
  paths: pathsOf([
    ...Object.entries(MODULES),
    ...['http', 'react', 'server', 'worker', 'contract'].map(
      (name) => [`flowfabric/${name}`, `src/${name}.ts`] as const,
    ),
  ]),
}

function pathsOf(modules: readonly (readonly [name: string, file: string])[]): Record<string, string[]> {
  return Object.fromEntries(modules.map(([name, file]) => [name, [path.join(root, file)]]))
}

/** A handler or a script around the snippet is left out in the text. */
const RETURN_OUTSIDE = 1108
/** Names that the compiler cannot find: as a value, as a type, as a shorthand property, as a namespace. */
const UNKNOWN_NAMES = [2304, 2552, 18004, 2503, 2582, 2591, 2593]

interface File {
  readonly name: string
  readonly snippet: Snippet
  /** Put behind the snippet, so that lines stay the same. */
  tail: string
}

/** Returns what the compiler reports, each as `docs/tasks.md:17: message`. */
export function checkSnippets(snippets: readonly Snippet[]): string[] {
  const files = snippets.map((snippet, index): File => {
    const page = snippet.page.replaceAll(/[^a-z0-9]/gi, '-')
    return {
      name: path.join(root, `snippet-${page}-${index}.${snippet.isTsx ? 'tsx' : 'ts'}`),
      snippet,
      tail: 'export {}',
    }
  })
  // Names are looked for without other modules, which is several times faster.
  const first = programOf(files, { ...options, noResolve: true, types: [] })
  const modules = programOf([], options)
  const exported = exportsOf(modules, modules.getTypeChecker())
  const declared = new Map(files.map((file) => [file, declaredIn(first, file)]))
  for (const file of files) {
    const names = new Set(
      errorsOf(first, file)
        .filter(({ code }) => UNKNOWN_NAMES.includes(code))
        .map(nameIn),
    )
    const earlier = files.filter((other) => other.snippet.page === file.snippet.page && other !== file)
    file.tail = [...names].map((name) => declarationOf(name, file, earlier, declared, exported)).join('\n')
  }
  for (const file of files) {
    file.tail += `\n${[...(declared.get(file) ?? [])].map((name) => exportOf(name, file)).join('\n')}\nexport {}`
  }
  const second = programOf(files, options, modules)
  return files.flatMap((file) =>
    errorsOf(second, file)
      .filter(({ code }) => code !== RETURN_OUTSIDE)
      .map((error) => messageOf(file, error)),
  )
}

function programOf(files: readonly File[], settings: ts.CompilerOptions, previous?: ts.Program): ts.Program {
  const host = ts.createCompilerHost(settings)
  const texts = new Map(files.map((file) => [file.name, `${file.snippet.text}\n${file.tail}`]))
  const getSourceFile = host.getSourceFile.bind(host)
  host.getSourceFile = (name, ...rest) => {
    const text = texts.get(name)
    if (text === undefined) return previous?.getSourceFile(name) ?? getSourceFile(name, ...rest)
    return ts.createSourceFile(name, text, ts.ScriptTarget.ES2024, true)
  }
  const fileExists = host.fileExists.bind(host)
  const readFile = host.readFile.bind(host)
  host.fileExists = (name) => texts.has(name) || fileExists(name)
  host.readFile = (name) => texts.get(name) ?? readFile(name)
  const modules = settings.noResolve === true ? [] : Object.values(MODULES).map((file) => path.join(root, file))
  return ts.createProgram([...texts.keys(), ...modules], settings, host)
}

function errorsOf(program: ts.Program, { name }: File): readonly ts.Diagnostic[] {
  const source = program.getSourceFile(name)
  return [...program.getSyntacticDiagnostics(source), ...program.getSemanticDiagnostics(source)]
}

function nameIn({ file, start = 0, length = 0 }: ts.Diagnostic): string {
  return file?.text.slice(start, start + length) ?? ''
}

/** The module that exports each name. */
function exportsOf(program: ts.Program, checker: ts.TypeChecker): ReadonlyMap<string, string> {
  const found = new Map<string, string>()
  for (const [name, file] of Object.entries(MODULES)) {
    const symbol = checker.getSymbolAtLocation(program.getSourceFile(path.join(root, file)) as ts.Node)
    for (const each of symbol === undefined ? [] : checker.getExportsOfModule(symbol)) {
      if (!found.has(each.name)) found.set(each.name, name)
    }
  }
  return found
}

/** The names that a snippet declares at its top. */
function declaredIn(program: ts.Program, { name }: File): ReadonlySet<string> {
  const names = new Set<string>()
  for (const statement of program.getSourceFile(name)?.statements ?? []) {
    if (ts.isVariableStatement(statement)) {
      for (const { name: declared } of statement.declarationList.declarations) addNames(declared, names)
    } else if (
      (ts.isFunctionDeclaration(statement) || ts.isClassDeclaration(statement)) &&
      statement.name !== undefined
    ) {
      names.add(statement.name.text)
    }
  }
  return names
}

/** Exports a name, unless the snippet does so itself. */
function exportOf(name: string, { snippet }: File): string {
  return new RegExp(`^export [^=]*\\b${name}\\b`, 'm').test(snippet.text) ? '' : `export { ${name} }`
}

function addNames(declared: ts.BindingName, names: Set<string>): void {
  if (ts.isIdentifier(declared)) names.add(declared.text)
  else for (const element of declared.elements) if (ts.isBindingElement(element)) addNames(element.name, names)
}

function declarationOf(
  name: string,
  file: File,
  others: readonly File[],
  declared: ReadonlyMap<File, ReadonlySet<string>>,
  exported: ReadonlyMap<string, string>,
): string {
  const before = others.filter((other) => other.snippet.line < file.snippet.line)
  const from = [...before].reverse().find((other) => declared.get(other)?.has(name) === true)
  const known = KNOWN_NAMES[name]
  if (known !== undefined) return known.startsWith('import(') ? `declare const ${name}: ${known}` : known
  const module = exported.get(name)
  if (module !== undefined) return `import { ${name} } from '${module}'`
  if (from !== undefined) return `import { ${name} } from './${path.basename(from.name)}'`
  return `declare const ${name}: any; type ${name}<A = any, B = any> = any`
}

function messageOf({ snippet }: File, { start = 0, file, messageText }: ts.Diagnostic): string {
  const line = file === undefined ? 0 : file.getLineAndCharacterOfPosition(start).line
  return `${snippet.page}:${snippet.line + line}: ${ts.flattenDiagnosticMessageText(messageText, ' ')}`
}

if (import.meta.main) {
  const found = checkSnippets(allSnippets())
  for (const each of found) console.error(each)
  if (found.length > 0) process.exitCode = 1
}
