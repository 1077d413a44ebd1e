import { mkdtempSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { readTypeScriptOptions, withoutComments } from './tsconfig.ts'

function project(files: Readonly<Record<string, string>>): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'flowfabric-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(path.dirname(path.join(folder, name)), { recursive: true })
    writeFileSync(path.join(folder, name), text)
  }
  return folder
}

function read(folder: string) {
  const files: string[] = []
  const options = readTypeScriptOptions(folder, (file) => files.push(path.relative(folder, file)))
  return { ...options, files }
}

test('comments and trailing commas are removed, except in strings', () => {
  const text = '\uFEFF{ "a": "// \\" /* ,] */", /* b */ "c": [1, 2, ], // d\n "e": ",}", }'
  expect(JSON.parse(withoutComments(text))).toEqual({ a: '// " /* ,] */', c: [1, 2], e: ',}' })
})

test('the nearest configuration above a folder is read', () => {
  const folder = project({
    'tsconfig.json': '{ "compilerOptions": { "paths": { "@/*": ["./src/*"] } } }',
    'src/a/b.ts': '',
  })
  const { paths } = read(path.join(folder, 'src/a'))
  expect([...paths]).toEqual([['@/*', [path.join(folder, 'src/*')]]])
})

test('paths are relative to the file that has them, or to baseUrl, and later files override earlier ones', () => {
  const folder = project({
    'tsconfig.json': '{ "extends": ["./config/one.json", "./config/two"], "compilerOptions": { "strict": true } }',
    'config/one.json': '{ "compilerOptions": { "paths": { "x": ["./x.ts"] }, "verbatimModuleSyntax": true } }',
    'config/two.json': '{ "compilerOptions": { "paths": { "y": ["./y.ts"] } } }',
  })
  const { files, paths, verbatimModuleSyntax } = read(folder)
  expect(files).toEqual(['tsconfig.json', 'config/one.json', 'config/two.json'])
  expect([...paths]).toEqual([['y', [path.join(folder, 'config/y.ts')]]])
  expect(verbatimModuleSyntax).toBe(true)

  const based = project({ 'tsconfig.json': '{ "compilerOptions": { "baseUrl": "src", "paths": { "z": ["z.ts"] } } }' })
  expect([...read(based).paths]).toEqual([['z', [path.join(based, 'src/z.ts')]]])
})

test('${configDir} in an extended file is the folder of the file that extends it', () => {
  const folder = project({
    'tsconfig.json': '{ "extends": "./config/base.json" }',
    'config/base.json': '{ "compilerOptions": { "paths": { "@/*": ["${configDir}/src/*"] } } }',
  })
  expect([...read(folder).paths]).toEqual([['@/*', [path.join(folder, 'src/*')]]])
})

test('a configuration that cannot be read is refused with its name', () => {
  expect(() => read(project({ 'tsconfig.json': '{ "extends": }' }))).toThrow(/tsconfig\.json: Unexpected token/)
  expect(() => read(project({ 'tsconfig.json': '{ "extends": "nowhere" }' }))).toThrow('cannot find nowhere')
  expect(() => read(project({ 'tsconfig.json': '{ "extends": "./tsconfig.json" }' }))).toThrow('are extended')
})
