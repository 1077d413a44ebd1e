import path from 'node:path'
import { RuleTester } from 'eslint'
import type { Rule } from 'eslint'
import tseslint from 'typescript-eslint'
import { describe, it, vi } from 'vitest'
import { kernelDialect } from './kernel-dialect.ts'

/** The first program that is looked at has the whole kernel read into memory. */
const PROJECT_LOAD_MS = 60_000

vi.setConfig({ testTimeout: PROJECT_LOAD_MS })

RuleTester.describe = describe
RuleTester.it = it

const root = path.join(import.meta.dirname, '..')
const filename = path.join(root, 'sample.ts')

const tester = new RuleTester({
  languageOptions: {
    parser: tseslint.parser,
    parserOptions: {
      projectService: { allowDefaultProject: ['sample.ts'], defaultProject: 'tsconfig.lua.json' },
      tsconfigRootDir: root,
    },
  },
})

interface Cases {
  readonly allowed: readonly string[]
  /** The message that each of the programs must get, once. */
  readonly forbidden: Record<string, readonly string[]>
}

function check(name: keyof typeof kernelDialect.rules, { allowed, forbidden }: Cases): void {
  // The two libraries describe one rule in types that do not match.
  const rule = kernelDialect.rules[name] as unknown as Rule.RuleModule
  tester.run(name, rule, {
    valid: allowed.map((code) => ({ code, filename })),
    invalid: Object.entries(forbidden).flatMap(([messageId, programs]) =>
      programs.map((code) => ({ code, filename, errors: [{ messageId }] })),
    ),
  })
}

check('syntax', {
  allowed: [
    'export function add(a: number, b: number): number { return (a + b) % 7 }',
    'export const list = [...[1], 2]; export const { first, ...rest } = { first: 1, second: 2 }',
    'for (const item of [1, 2]) { if (item > 1) continue }',
    'switch (typeof globalThis) { case "object": break; default: break }',
    'export const named = { arguments: 1 }; export const read = named.arguments',
    'export const isBig = (n: number): boolean => n > 3 || n < -3',
  ],
  forbidden: {
    classes: ['class A {}', 'export const A = class {}'],
    exceptions: ['throw 1', 'try { f() } finally { f() }', 'try { f() } catch { f() }'],
    async: ['export const f = async () => 1', 'async function f() {}', 'export {}; await 1'],
    generators: ['function* f() {}'],
    patterns: ['export const r = /a/'],
    bigIntegers: ['export const n = 1n'],
    constructing: [
      'new Map()',
      'new Set()',
      'new WeakMap()',
      'new Date()',
      'new RegExp("a")',
      'new Promise(f)',
      'new Array(3)',
    ],
    accessors: ['export const o = { get a() { return 1 } }', 'export const o = { set a(b: number) {} }'],
    deleting: ['delete o.a'],
    bits: ['a & b', 'a | b', 'a ^ b', '~a', 'a << 1', 'a >> 1', 'a >>> 1', 'a |= 1', 'a >>>= 1'],
    spreadCall: ['f(...list)', 'list.push(...other)'],
    keyLoop: ['for (const key in o) f(key)'],
    labels: ['outer: for (;;) break outer'],
    self: ['this.a', 'function f() { return arguments }'],
    taggedTemplate: ['tag`a`'],
    conversion: ['+"1"'],
    keyTest: ['"a" in o'],
    instanceTest: ['a instanceof f'],
    modules: ['import("./a.ts")', 'import.meta'],
    disposal: ['function f() { using a = open() }'],
  },
})

check('globals', {
  allowed: [
    'export const a = Math.floor(Math.max(1, 2) / Math.min(3, 4))',
    'export const ok = Number.isInteger(1) && 1 < Number.MAX_SAFE_INTEGER',
    'export const nothing = undefined',
    'export type Lists = Map<string, Set<Date>>; export type Keys = Record<string, Promise<number>>',
    'const JSON = { parse: (text: string): string => text }; export const a = JSON.parse("1")',
    'export function integerText(value: number): string { return String(value) }',
    'export const words = ["a", "b"] as const',
  ],
  forbidden: {
    global: [
      'export const a = JSON.stringify({})',
      'export const a = Date.now()',
      'export const a = Math.random()',
      'export const a = Math.round(1.5)',
      'export const a = Math',
      'export const a = Object.keys({})',
      'export const a = Object.assign({}, {})',
      'export const a = Array.isArray([])',
      'export const a = String(1)',
      'export const a = Number("1")',
      'export const a = parseInt("1", 10)',
      'export const a = ["a"].filter(Boolean)',
      'export const a = Map',
      'export const a = Promise.resolve(1)',
      'export const a = globalThis',
    ],
  },
})

check('members', {
  allowed: [
    'export const a = "abc".slice(1).length + "abc".charCodeAt(0)',
    'export const a = (text: string): boolean => text.startsWith("x") && text.includes("y")',
    'export const a = [1, 2].map((n) => n + 1).filter((n) => n > 1).length',
    'export const a = (list: readonly string[]): string | undefined => list[0]',
    'export const a = (byName: Record<string, number>, name: string): number | undefined => byName[name]',
    'export const a = (text: string): string | undefined => text[0]',
    'export const a = { sort: (n: number): number => n }.sort(1)',
    'export function integerText(value: number): string { return value.toString() }',
  ],
  forbidden: {
    sort: ['[2, 1].sort()', '[2, 1].toSorted()', 'export const f = <T>(list: T[]): T[] => list.sort()'],
    string: [
      '"a".localeCompare("b")',
      '"a".normalize()',
      '"a".padStart(2)',
      '"a".toLowerCase()',
      '"a".replace("a", "b")',
      'export const f = (text?: string): string | undefined => text?.trim()',
      'export const f = (id: string & { readonly brand: 1 }): string => id.toUpperCase()',
    ],
    array: ['[1].entries()', '[[1]].flat()', '[1].keys()', '[1].fill(2)'],
    number: [
      'export const f = (n: number): string => n.toString()',
      'export const f = (n: number): string => n.toFixed(2)',
    ],
    numberKey: ['export const f = (byNumber: Record<number, string>, n: number): string | undefined => byNumber[n]'],
  },
})

check('boolean-tests', {
  allowed: [
    'export const f = (n: number): number => (n > 0 ? 1 : 2)',
    'export const f = (a: boolean, b: boolean): boolean => a || (!b && a)',
    'export const f = (text: string | undefined): string => text ?? "none"',
    'export const f = (list: string[]): boolean => list.some((text) => text !== "")',
    'export const f = (a: boolean, n: number): number | false => a && n',
    'export const f = <T extends boolean>(a: T): number => (a ? 1 : 2)',
    'for (let i = 0; i < 3; i++) { while (i > 5) i-- }',
  ],
  forbidden: {
    test: [
      'export const f = (n: number): number => { if (n) return 1; return 2 }',
      'export const f = (text: string): number => (text ? 1 : 2)',
      'export const f = (text: string): boolean => !text',
      'export const f = (o: object | undefined): number => (o ? 1 : 2)',
      'export const f = (flag?: boolean): number => (flag ? 1 : 2)',
      'export const f = (n: number, a: boolean): boolean | 0 => n && a',
      'export const f = (n: number, a: boolean): void => { if (a && n) f(n, a) }',
      'export const f = (n: number): void => { while (n) n-- }',
      'export const f = (n: number): void => { do n--; while (n) }',
      'export const f = (n: number): void => { for (; n; ) n-- }',
      'export const f = (o: { n: number }): void => { o.n &&= 1 }',
      'export const f = (value: unknown): number => (value ? 1 : 2)',
    ],
    or: [
      'export const f = (text: string): string => text || "none"',
      'export const f = (a: boolean, n: number): number | true => a || n',
      'export const f = (o: { n: number }): void => { o.n ||= 1 }',
    ],
    predicate: ['export const f = (list: string[]): string[] => list.filter((text) => text.length)'],
  },
})

check('strings', {
  allowed: [
    'export const f = (a: string, b: string): string => `${a}:${b}` + a',
    'export const f = (a: number, b: number): boolean => a + b < 3',
    'export const f = (a: "x" | "y", id: string & { readonly brand: 1 }): string => a + id',
    'export const f = (list: string[]): string => list.join(",")',
    'export const f = (a: string, b: string): boolean => a === b',
    'export function integerText(value: number): string { return `${value}` }',
    'export const f = <T extends string>(a: T): string => `${a}!`',
  ],
  forbidden: {
    number: [
      'export const f = (n: number): string => `${n}`',
      'export const f = (n: number): string => "a" + n',
      'export const f = (n: number): string => n + "a"',
      'export const f = (n: number | string): string => `${n}`',
      'export const f = (list: number[]): string => list.join(",")',
      'export const f = (n: number): string => { let text = ""; text += n; return text }',
    ],
    other: [
      'export const f = (a: boolean): string => `${a}`',
      'export const f = (a: string | undefined): string => `${a}`',
      'export const f = (a: string | undefined): string => "a" + a',
    ],
    order: [
      'export const f = (a: string, b: string): boolean => a < b',
      'export const f = (a: string): boolean => a >= "m"',
    ],
  },
})

check('absent-values', {
  allowed: [
    'export const f = (e: { worker?: string }): object => ({ ...e, worker: "a" })',
    'export const f = (e: { a: number }, note: string | undefined): object => ({ ...e, note })',
    'export const f = (e: { a: number; b?: number }, o: { b?: number }): object => ({ ...e, ...o })',
    'export const f = (e: { worker?: string | undefined }): void => { e.worker = undefined }',
    'export const f = (worker: string | undefined): object => ({ worker })',
    'export const f = (list: string[], text: string): string[] => { list.push(text); return [...list, text] }',
    'export const f = (list: string[]): string | undefined => list[0]',
    'export const f = (list: unknown[]): unknown[] => list.slice(1)',
  ],
  forbidden: {
    null: ['export const a = null', 'export type A = string | null'],
    clearing: [
      'export const f = (e: { worker?: string }): object => ({ ...e, worker: undefined })',
      'export const f = (e: { worker?: string }, worker: string | undefined): object => ({ ...e, worker })',
      'export const f = (e: { a?: number }, o: { a?: number | undefined }): object => ({ ...e, ...o })',
    ],
    absentSpread: ['export const f = (o: { a: number } | undefined): object => ({ b: 1, ...o })'],
    hole: [
      'export const a = [1, , 2]',
      'export const f = (n: number | undefined): unknown => [n]',
      'export const f = (list: unknown[], n: number | undefined): number => list.push(n)',
      'export const f = (list: unknown[]): void => { list[0] = undefined }',
      'export const f = (list: string[]): unknown => list.map((text) => (text === "" ? undefined : text))',
      'export type A = (string | undefined)[]',
      'export type A = ReadonlyArray<string | undefined>',
    ],
  },
})
