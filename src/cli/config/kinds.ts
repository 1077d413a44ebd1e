/** The kinds of values that settings have. A kind parses texts of flags and variables, and values of a file. */
import { EngineError } from '../../kernel/engine-error.ts'
import { invalidConfiguration, show } from '../../options/invalid-input.ts'
import { oneOf, wholeNumber } from '../../options/shape.ts'

export interface Kind<T> {
  /** How the reference describes a value, such as `a whole number from 0 to 65535`. */
  readonly text: string
  /** Parses the text of a flag or a variable. `name` is what an error calls it. */
  readonly parse: (text: string, name: string) => T
  /** Checks a value of the file. */
  readonly check: (value: unknown, name: string) => T
}

function refuse(name: string, problem: string, text: string): EngineError {
  return invalidConfiguration(name, `${name} is ${problem}, but must be ${text}.`)
}

export const text: Kind<string> = {
  text: 'a text',
  parse: (value) => value,
  check: checkText('a text'),
}

/** The path of a file. Relative paths start at the working directory. */
export const file: Kind<string> = { text: 'a file', parse: (value) => value, check: checkText('a file') }

/** The path of a file with secrets, which only its owner should reach. */
export const secretFile: Kind<string> = { ...file }

/** A text that is never shown, not even in errors. */
export const secret: Kind<string> = {
  text: 'a secret',
  parse: (value) => value,
  check: (value, name) => {
    if (typeof value === 'string' && value !== '') return value
    throw refuse(name, 'of another type', 'a text that is not empty')
  },
}

export const boolean: Kind<boolean> = {
  text: '`true` or `false`',
  parse: (value, name) => {
    if (value === 'true' || value === '1') return true
    if (value === 'false' || value === '0') return false
    throw refuse(name, show(value), 'true or false')
  },
  check: (value, name) => {
    if (typeof value === 'boolean') return value
    throw refuse(name, show(value), 'true or false')
  },
}

/** A list of texts; commas separate them in a variable. */
export const list: Kind<readonly string[]> = {
  text: 'a list',
  parse: (value) =>
    value
      .split(',')
      .map((part) => part.trim())
      .filter((part) => part !== ''),
  check: (value, name) => {
    if (Array.isArray(value) && value.every((item) => typeof item === 'string' && item !== '')) {
      return value as readonly string[]
    }
    throw refuse(name, show(value), 'a list of texts')
  },
}

export function integer(minimum: number, maximum: number): Kind<number> {
  const check = configured(wholeNumber(minimum, maximum))
  return {
    text: `a whole number from ${minimum} to ${maximum}`,
    parse: (value, name) => check(/^-?\d{1,15}$/.test(value) ? Number(value) : value, name),
    check,
  }
}

export function word<Word extends string>(words: readonly Word[]): Kind<Word> {
  const check = configured(oneOf(words))
  return { text: words.map((one) => `\`${one}\``).join(', '), parse: check, check }
}

function checkText(form: string): (value: unknown, name: string) => string {
  return (value, name) => {
    if (typeof value === 'string' && value !== '') return value
    throw refuse(name, show(value), `${form} that is not empty`)
  }
}

/** Turns the error of a check, which is about input, into one about configuration. */
function configured<T>(check: (value: unknown, name: string) => T): (value: unknown, name: string) => T {
  return (value, name) => {
    try {
      return check(value, name)
    } catch (error) {
      throw error instanceof EngineError ? invalidConfiguration(name, error.detail.message ?? '') : error
    }
  }
}
