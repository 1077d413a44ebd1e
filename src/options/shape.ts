/**
 * Checks and parses the options of a call. A shape has one check for each option of a type, so a check that is missing or
 * belongs to no option does not compile. An unknown option is refused: a misspelt one would be ignored silently.
 */
import type { EngineError } from '../kernel/engine-error.ts'
import { invalidInput, show, wrongValue } from './invalid-input.ts'
import { suggestion } from './nearest.ts'

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
/* @__NO_SIDE_EFFECTS__ */
export function shape<Options>(refuse: (field: string, message: string) => EngineError = invalidInput) {
  return <const C extends Checks<Options>>(
    form: string,
    checks: C & Readonly<Record<Exclude<keyof C, KeyOf<Options>>, never>>,
  ): Shape<C> => {
    const checkOf: Readonly<Record<string, Check>> = checks
    const entries = Object.entries(checkOf)
    const requiredEntries = entries.filter(([, check]) => 'isRequired' in check)
    const known = new Set(Object.keys(checks))
    const parse = (value: unknown, field = OPTIONS): Parsed<C> => {
      if (typeof value !== 'object' || value === null || Array.isArray(value)) {
        throw refuse(field, `${field} is ${show(value)}, but must be an object such as ${form}.`)
      }
      const keys = Object.keys(value)
      for (const key of keys) {
        if (!known.has(key)) throw refuse(field, unknownKey(field, key, [...known]))
      }
      const given = value as Readonly<Record<string, unknown>>
      const parsed: Record<string, unknown> = {}
      const prefix = field === OPTIONS ? '' : `${field}.`
      if (isBare(value)) {
        // Most calls have few options, or none at all.
        for (const key of keys) {
          const each = given[key]
          if (each !== undefined) parsed[key] = checkOf[key]?.(each, prefix + key)
        }
        for (const [key, check] of requiredEntries)
          if (given[key] === undefined) parsed[key] = check(undefined, prefix + key)
        return parsed as Parsed<C>
      }
      for (const [key, check] of entries) {
        const each = given[key]
        if (each !== undefined || 'isRequired' in check) parsed[key] = check(each, prefix + key)
      }
      return parsed as Parsed<C>
    }
    return Object.assign(parse, { checks })
  }
}

/** Whether an object can have inherited no option. */
function isBare(value: object): boolean {
  return Object.getPrototypeOf(value) === Object.prototype
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
  throw wrongValue(field, value, 'true or false')
}

/** Accepts a word of a list that defines its type, or a key of an object, which the compiler keeps complete. */
export function oneOf<Word extends string>(words: readonly Word[] | Readonly<Record<Word, unknown>>): Check<Word> {
  const known: readonly string[] = Array.isArray(words) ? words : Object.keys(words)
  const text = known.length === 2 ? known.map((word) => `'${word}'`).join(' or ') : `one of ${known.join(', ')}`
  return (value, field) => {
    if (known.includes(value as string)) return value as Word
    throw wrongValue(field, value, text)
  }
}

export function wholeNumber(minimum: number, maximum = Number.MAX_SAFE_INTEGER): Check<number> {
  const range = maximum === Number.MAX_SAFE_INTEGER ? `of at least ${minimum}` : `from ${minimum} to ${maximum}`
  return (value, field) => {
    if (Number.isInteger(value) && (value as number) >= minimum && (value as number) <= maximum) return value as number
    throw wrongValue(field, value, `a whole number ${range}`)
  }
}

function unknownKey(field: string, key: string, known: readonly string[]): string {
  return `${field} has the unknown key ${show(key)}; the known ones are ${known.join(', ')}.${suggestion(key, known)}`
}
