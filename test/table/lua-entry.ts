/** The table inside a Lua server: its platform, and the functions that the server's library hands out. */
import type { Attempted, Fault, Platform } from './dialect/platform.ts'
import { rulesText } from './dialect/rules.ts'
import { rowText, trials } from './dialect/table.ts'
import { walkText } from './dialect/walk.ts'

/** The compiler to Lua knows by this field that a function returns several values, not a list of them. */
type Several<T extends unknown[]> = T & { readonly __tstlMultiReturn: unknown }

declare function pcall<T>(run: () => T): Several<[true, T] | [false, Fault | string]>
declare function error(problem: Fault | string): never

const luaPlatform: Platform = {
  attempt: <T>(run: () => T): Attempted<T> => {
    const [succeeded, outcome] = pcall(run)
    if (succeeded) return { kind: 'finished', value: outcome }
    if (typeof outcome === 'string') return error(outcome)
    return { kind: 'stopped', fault: outcome }
  },
  stop: (fault) => error(fault),
  fieldNames: (value) => {
    const names: string[] = []
    for (const name in value) names.push(name)
    return names
  },
  isList: (value) => (value as unknown[])[0] !== undefined,
}

export function rowCount(): number {
  return trials.length
}

/** One row of the table as text; rows are counted from 0. */
export function row(number: number): string {
  const trial = trials[number]
  return trial === undefined ? 'there is no such row' : rowText(luaPlatform, trial)
}

export function rules(): string {
  return rulesText(luaPlatform)
}

export function walk(seed: number, steps: number): string {
  return walkText(luaPlatform, seed, steps)
}
