import { readFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { runInThisContext } from 'node:vm'
import { afterEach, describe, expect, test } from 'vitest'
import { instrument } from './instrument.ts'
import { mutantsOf } from './mutants.ts'
import { compareSurvivors, readSurvivors } from './survivors.ts'

const FILE = 'src/example.ts'
const SWITCH = 'flowfabricMutation'
const globals = globalThis as unknown as Record<string, unknown>

afterEach(() => {
  globals[SWITCH] = undefined
})

function changesOf(text: string): string[] {
  return mutantsOf(FILE, text).map(({ change }) => change)
}

/** Calls the function `f` of a text with the given mutant, or with none. */
function call(text: string, mutant: number, ...args: readonly unknown[]): unknown {
  const is = (number: number): boolean => number === mutant
  globals[SWITCH] = { is, on: is, same: (value: unknown) => value, tick: () => undefined }
  const code = stripTypeScriptTypes(instrument(FILE, text, mutantsOf(FILE, text), 0), { mode: 'transform' })
  const f = runInThisContext(`(() => {${code}\nreturn f})()`) as (...given: readonly unknown[]) => unknown
  return f(...args)
}

describe('the mutants of a text', () => {
  test('change limits, conditions and results', () => {
    expect(changesOf('function f(a: number) { return a < 10 }')).toEqual([
      '{ return a < 10 } → nothing',
      'a < 10 → a <= 10',
      'a < 10 → a >= 10',
    ])
    expect(changesOf('function f(a: number[]) { if (a.some(g)) a.pop() }')).toEqual([
      'a.some(g) → true',
      'a.some(g) → false',
      'a.some(g) → a.every(g)',
      'a.pop() → nothing',
    ])
  })

  test('leave types, texts for people and code that runs once alone', () => {
    expect(
      changesOf(
        "const LIMIT = 1 < 2\ntype A = 'a' | 'b'\nfunction f(a: 'c') { throw new Error('It has failed here.') }",
      ),
    ).toEqual(["{ throw new Error('It has failed here.') } → nothing"])
  })

  test('leave code alone that only runs while its module is loaded', () => {
    const table =
      'function row(a: number) { return cell(a) }\nfunction cell(a: number) { return -a }\nconst ROWS = [row(1)]'
    expect(changesOf(table)).toEqual([])
    expect(changesOf(`${table}\nconst f = () => cell(2)`)).toEqual(['{ return -a } → nothing', '-a → a'])
  })

  test('leave changes out that their form shows to be without effect', () => {
    expect(changesOf('const f = (a?: number) => a !== undefined && a < 3')).not.toContain('a !== undefined → true')
    expect(changesOf('const f = (a?: number) => b && a !== undefined && a < 3')).not.toContain('a !== undefined → true')
    expect(changesOf('const f = (a?: number) => a !== undefined && b < 3')).toContain('a !== undefined → true')
    expect(changesOf('const f = (a?: number) => (a ?? 0) > 0')).not.toContain('a ?? 0 → a')
    expect(changesOf('const f = (a?: number) => (a ?? 0) === 0')).toContain('a ?? 0 → a')
    expect(changesOf('function f() { try { g() } catch { return undefined } }')).not.toContain(
      '{ return undefined } → nothing',
    )
    expect(changesOf('function f() { try { g() } catch { return undefined }\nreturn 1 }')).toContain(
      '{ return undefined } → nothing',
    )
  })

  test('take an optional chain as a whole', () => {
    expect(changesOf('const f = (a: A) => a?.b.c')).toEqual(['a?.b.c → a.b.c'])
  })
})

const EXAMPLE = `
function f(list: number[], limit?: number): unknown {
  const found: number[] = []
  for (const item of list) {
    if (item > 2 && item !== 5) found.push(item)
    else { found.unshift(0); found.unshift(1) }
  }
  switch (limit ?? 3) {
    case 3: {
      found.reverse()
      return { found: found.filter((one) => one > 0), last: found.at(-1)?.toFixed(1) }
    }
    default:
      return \`\${found.length} of \${list.length}\`
  }
}`

describe('a text with all its mutants', () => {
  test('does as before while none of them is on', () => {
    expect(call(EXAMPLE, -1, [1, 3, 5])).toEqual({ found: [3, 1, 1], last: '1.0' })
    expect(call(EXAMPLE, -1, [1, 3, 5], 4)).toBe('5 of 3')
  })

  test('does something else with nearly each of them', () => {
    const inputs = [[[1, 3, 5]], [[2, 4]], [[]], [[1, 3, 5], 4]]
    const outcomeOf = (mutant: number): string =>
      JSON.stringify(
        inputs.map((input) => {
          try {
            return call(EXAMPLE, mutant, ...input)
          } catch {
            return 'error'
          }
        }),
      )
    const usual = outcomeOf(-1)
    const same = mutantsOf(FILE, EXAMPLE).filter((_, number) => outcomeOf(number) === usual)

    expect(same.map(({ change }) => change)).toEqual([])
  })
})

describe('the list of survivors', () => {
  const [first, second] = mutantsOf(FILE, 'function f(a: number) { return a < 10 }')
  const entry = { in: 'f', mutants: [first!.change], reason: 'It is equivalent.' }

  test('names every survivor once', () => {
    expect(compareSurvivors({ [FILE]: [entry] }, [FILE], [first!])).toEqual({ unlisted: [], obsolete: [] })
    expect(compareSurvivors({ [FILE]: [entry] }, [FILE], [first!, first!, second!]).unlisted).toEqual([first, second])
  })

  test('names nothing else, of the files that were tried', () => {
    expect(compareSurvivors({ [FILE]: [entry] }, [FILE], []).obsolete).toEqual([`${FILE}, f: ${first!.change}`])
    expect(compareSurvivors({ [FILE]: [entry] }, ['src/other.ts'], []).obsolete).toEqual([])
  })

  test('can be read, and names mutants that exist', () => {
    for (const [file, entries] of Object.entries(readSurvivors())) {
      const made = new Set(
        mutantsOf(file, readFileSync(file, 'utf8')).map(({ within, change }) => `${within}: ${change}`),
      )
      const named = entries.flatMap((listed) => listed.mutants.map((change) => `${listed.in}: ${change}`))
      expect(
        named.filter((name) => !made.has(name)),
        file,
      ).toEqual([])
    }
  })
})
