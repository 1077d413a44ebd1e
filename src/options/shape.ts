/**
 * Checks and parses the options of a call. A shape has one check for each option of a type, so a check that is missing or
 * belongs to no option does not compile. An unknown option is refused: a misspelt one would be ignored silently.
 */
import type { EngineError } from '../kernel/engine-error.ts'
import { invalidInput, show } from './invalid-input.ts'

/** Returns the parsed value, or throws an error that names the field. */
export type Check<T = unknown> = (value: unknown, field: string) => T

/** A check that also runs if the option is left out. */
export interface RequiredCheck<T> extends Check<T> {
  readonly isRequired: true
}

/** The keys of all variants of a type. */
type KeyOf<Options> = Options extends unknown ? keyof Options & string : never
type Checks<Options> = Readonly<Record<KeyOf<Options>, Check>>
type ResultOf<F> = F extends Check<infer T> ? T : never
type Parsed<C> = {
  readonly [K in keyof C as C[K] extends RequiredCheck<unknown> ? K : never]: ResultOf<C[K]>
} & { readonly [K in keyof C as C[K] extends RequiredCheck<unknown> ? never : K]?: ResultOf<C[K]> }

/** Parses options. Those left out stay so. A shape is a check itself, so shapes nest. */
export interface Shape<C> {
  (value: unknown, field?: string): Parsed<C>
  /** To be spread into the shape of a type that extends this one. */
  readonly checks: C
}

const OPTIONS = 'options'

/** Makes the shape of a type. `form` is the example that an error shows. */
export function shape<Options>(refuse: (field: string, message: string) => EngineError = invalidInput) {
  return <const C extends Checks<Options>>(
    form: string,
    checks: C & Readonly<Record<Exclude<keyof C, KeyOf<Options>>, never>>,
  ): Shape<C> => {
    const entries = Object.entries<Check>(checks)
    const known = new Set(Object.keys(checks))
    const parse = (value: unknown, field = OPTIONS): Parsed<C> => {
      if (typeof value !== 'object' || value === null || Array.isArray(value)) {
        throw refuse(field, `${field} is ${show(value)}, but must be an object such as ${form}.`)
      }
      for (const key of Object.keys(value)) {
        if (!known.has(key)) throw refuse(field, unknownKey(field, key, [...known]))
      }
      const given = value as Readonly<Record<string, unknown>>
      const parsed: Record<string, unknown> = {}
      const prefix = field === OPTIONS ? '' : `${field}.`
      for (const [key, check] of entries) {
        const each = given[key]
        if (each !== undefined || 'isRequired' in check) parsed[key] = check(each, prefix + key)
      }
      return parsed as Parsed<C>
    }
    return Object.assign(parse, { checks })
  }
}

export function required<T>(check: Check<T>): RequiredCheck<T> {
  return Object.assign((value: unknown, field: string) => check(value, field), { isRequired: true as const })
}

/** Accepts any value. For options whose values have no rules, or are checked where they are used. */
export function unchecked<T>(): Check<T> {
  return (value) => value as T
}

export function boolean(value: unknown, field: string): boolean {
  if (typeof value === 'boolean') return value
  throw invalidInput(field, `${field} is ${show(value)}, but must be true or false.`)
}

/** Accepts a word of a list that defines its type, or a key of an object, which the compiler keeps complete. */
export function oneOf<Word extends string>(words: readonly Word[] | Readonly<Record<Word, unknown>>): Check<Word> {
  const known: readonly string[] = Array.isArray(words) ? words : Object.keys(words)
  const text = known.length === 2 ? known.map((word) => `'${word}'`).join(' or ') : `one of ${known.join(', ')}`
  return (value, field) => {
    if (known.includes(value as string)) return value as Word
    throw invalidInput(field, `${field} is ${show(value)}, but must be ${text}.`)
  }
}

export function wholeNumber(minimum: number, maximum = Number.MAX_SAFE_INTEGER): Check<number> {
  const range = maximum === Number.MAX_SAFE_INTEGER ? `of at least ${minimum}` : `from ${minimum} to ${maximum}`
  return (value, field) => {
    if (Number.isInteger(value) && (value as number) >= minimum && (value as number) <= maximum) return value as number
    throw invalidInput(field, `${field} is ${show(value)}, but must be a whole number ${range}.`)
  }
}

function unknownKey(field: string, key: string, known: readonly string[]): string {
  const nearest = nearestOf(key, known)
  const advice = nearest === undefined ? '' : ` Did you mean ${nearest}?`
  return `${field} has the unknown key ${show(key)}; the known ones are ${known.join(', ')}.${advice}`
}

/** At most one letter of so many, rounded up, may differ in a misspelt name. */
const MISSPELT_SHARE = 3

function nearestOf(key: string, known: readonly string[]): string | undefined {
  let nearest: string | undefined
  let least = Math.ceil(key.length / MISSPELT_SHARE) + 1
  for (const name of known) {
    // Names of very different length are not near, and need no comparison.
    const distance =
      Math.abs(name.length - key.length) < least ? distanceOf(key.toLowerCase(), name.toLowerCase()) : least
    if (distance >= least) continue
    nearest = name
    least = distance
  }
  return nearest
}

/** The number of letters to insert, remove or replace. */
function distanceOf(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, i) => i)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++) {
      const replaced = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1)
      next.push(Math.min(replaced, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1))
    }
    row = next
  }
  return row[b.length] ?? 0
}
