import { glob, readFile } from 'node:fs/promises'
import path from 'node:path'
import { inspect } from 'node:util'
import { describe, expect, test } from 'vitest'
import { EngineError } from './engine-error.ts'
import { errorCatalogue } from './errors.ts'
import type { ErrorCode, ErrorEntry } from './errors.ts'
import { publicStates } from './model/public-state.ts'

const source = path.join(import.meta.dirname, '..')

/** What names a code here does not use it. */
const CATALOGUE = path.join('kernel', 'errors.ts')
const codes = Object.keys(errorCatalogue)
const entries: readonly [string, ErrorEntry][] = Object.entries(errorCatalogue)

async function sources(pattern: string): Promise<string> {
  const texts: string[] = []
  for await (const file of glob(pattern, { cwd: source })) {
    if (!file.endsWith('.test.ts') && file !== CATALOGUE) texts.push(await readFile(path.join(source, file), 'utf8'))
  }
  return texts.join('\n')
}

describe('the catalogue of codes', () => {
  test('has every code with which the kernel refuses', async () => {
    const refusals = (await sources('kernel/**/*.ts')).matchAll(/\b(?:refused|refusedFor|refuse)\(\s*'([a-z_]+)'/g)
    const used = new Set([...refusals].map(([, code]) => code))

    expect(used.size).toBeGreaterThan(5)
    expect([...used].filter((code) => !codes.includes(code!))).toEqual([])
  })

  test('has no code that nothing uses', async () => {
    const everything = await sources('**/*.ts')
    // How an execution ended becomes a code by its name.
    const ofOutcomes = everything.includes('`execution_${outcome}`')
      ? publicStates.map((word) => `execution_${word}`)
      : []

    expect(codes.filter((code) => !everything.includes(`'${code}'`) && !ofOutcomes.includes(code))).toEqual([])
  })

  test.each(entries)('%s names the problem and the next step, in whole sentences', (code, entry) => {
    expect(code).toMatch(/^[a-z]+(_[a-z]+)*$/)
    expect(entry.text).toMatch(/^[A-Z].*\.$/)
    expect(entry.advice).toMatch(/^[A-Z].*\.$/)
    expect(entry.status).toBeGreaterThanOrEqual(400)
  })

  test.each(entries)('%s is printed with its text and its advice', (code, entry) => {
    const printed = inspect(new EngineError(code as ErrorCode, { message: 'Here.' }), { breakLength: Infinity })

    expect(printed).toContain(`EngineError: ${entry.text} Here.`)
    expect(printed).toContain(`code: '${code}'`)
    expect(printed).toContain(inspect(entry.advice, { breakLength: Infinity }))
  })

  test('advises to try later only where the fault is not the caller’s, or the caller sent too much', () => {
    const later = entries.filter(([, { retry }]) => retry === 'later').map(([, { status }]) => status)

    expect(later.filter((status) => status < 499 && status !== 429)).toEqual([])
  })
})
