/** Checks values from outside against shapes, which are generated from the types of the inputs of operations. */
import { invalidInput, show } from '../../options/invalid-input.ts'
import type { CreateInput } from '../../kernel/index.ts'
import { checkNumber, checkText } from './field-rules.ts'
import type { InputContext } from './field-rules.ts'

export type Shape =
  | 'text'
  | 'number'
  | 'flag'
  | 'executionId'
  | 'flowId'
  | { readonly is: string | number | boolean }
  | { readonly words: readonly string[] }
  | { readonly list: Shape }
  | { readonly record: Shape }
  | { readonly oneOf: readonly Shape[] }
  /** A name that ends in "?" is that of an optional field. */
  | { readonly fields: Readonly<Record<string, Shape>> }
  | { readonly ref: string }

/** Throws `invalid_input` if a value does not fit. */
export type Checker = (value: unknown, name: string, context: InputContext) => void

interface Field {
  readonly check: Checker
  readonly isOptional: boolean
}

/** The shape of a reference to a blob of the call. */
const BLOB_SHAPE = 'BlobInput'
/** The shape of an execution that a call creates. */
const NEW_SHAPE = 'CreateInput'
/** The name of a whole input. */
export const INPUT_NAME = 'input'
const WITHIN = 'within'
const LIST_MAX = 10_000
const RECORD_MAX = 1_000
const POLLUTING_KEYS = ['__proto__', 'constructor', 'prototype']

/** Compiles shapes. Each is compiled when it is first used. */
export class Shapes {
  readonly #named: Readonly<Record<string, Shape>>
  readonly #ready = new Map<string, Checker>()

  constructor(named: Readonly<Record<string, Shape>>) {
    this.#named = named
  }

  compile(shape: Shape): Checker {
    if (typeof shape === 'string') return plain(shape)
    if ('is' in shape) return oneWord([shape.is])
    if ('words' in shape) return oneWord(shape.words)
    if ('list' in shape) return this.#list(shape.list)
    if ('record' in shape) return this.#record(shape.record)
    if ('oneOf' in shape) return this.#oneOf(shape.oneOf)
    if ('ref' in shape) return this.#reference(shape.ref)
    return this.#object(shape.fields)
  }

  #reference(name: string): Checker {
    return (value, field, context) => {
      let check = this.#ready.get(name)
      if (check === undefined) {
        const shape = this.#named[name]
        if (shape === undefined) throw new TypeError(`There is no shape ${name}.`)
        check = this.compile(shape)
        this.#ready.set(name, check)
      }
      check(value, field, context)
      if (name === BLOB_SHAPE) {
        const { blob, size } = value as { readonly blob: number; readonly size: number }
        context.checkBlob(blob, size)
      }
      if (name === NEW_SHAPE) context.checkNew(value as CreateInput)
    }
  }

  #list(item: Shape): Checker {
    const check = this.compile(item)
    return (value, name, context) => {
      if (!Array.isArray(value)) throw unfit(name, value, 'a list')
      if (value.length > LIST_MAX) throw invalidInput(name, `${name} has more than ${LIST_MAX} items.`)
      for (const each of value) check(each, name, context)
    }
  }

  #record(item: Shape): Checker {
    const check = this.compile(item)
    return (value, name, context) => {
      const entries = Object.entries(objectOf(value, name))
      if (entries.length > RECORD_MAX) throw invalidInput(name, `${name} has more than ${RECORD_MAX} fields.`)
      for (const [key, each] of entries) {
        if (POLLUTING_KEYS.includes(key)) throw invalidInput(name, `${name} has the field ${show(key)}.`)
        checkText(key, name, context)
        check(each, key, context)
      }
    }
  }

  #object(shapes: Readonly<Record<string, Shape>>): Checker {
    const fields = new Map<string, Field>()
    for (const [name, shape] of Object.entries(shapes)) {
      const isOptional = name.endsWith('?')
      fields.set(isOptional ? name.slice(0, -1) : name, { check: this.compile(shape), isOptional })
    }
    const isLimitKey = shapes['limit'] === 'text' && shapes['key'] === 'text'
    const required = [...fields].filter(([, { isOptional }]) => !isOptional).map(([name]) => name)
    return (value, name, context) => {
      const given = objectOf(value, name)
      for (const key in given) {
        const field = fields.get(key)
        // The namespace that a client is bound to comes with every input, and the server replaces it.
        if (field === undefined && key === WITHIN && name === INPUT_NAME && typeof given[key] === 'string') continue
        if (field === undefined) throw invalidInput(name, `${name} has the field ${show(key)}, which is not known.`)
        field.check(given[key], key, context)
      }
      for (const key of required) {
        if (!Object.hasOwn(given, key)) throw invalidInput(key, `${key} is missing in ${name}.`)
      }
      if (isLimitKey) context.checkLimitKey(given['limit'] as string, given['key'] as string)
    }
  }

  /** A field that has another word in each object decides which one it is. */
  #oneOf(shapes: readonly Shape[]): Checker {
    const tag = tagOf(shapes)
    if (tag === undefined) return firstFitting(shapes.map((shape) => this.compile(shape)))
    const byWord = new Map(shapes.map((shape) => [wordOf(shape, tag), this.compile(shape)]))
    return (value, name, context) => {
      const word = objectOf(value, name)[tag]
      const check = byWord.get(word as string)
      if (check === undefined) throw unfit(`${name}.${tag}`, word, `one of ${[...byWord.keys()].join(', ')}`)
      check(value, name, context)
    }
  }
}

function plain(shape: Extract<Shape, string>): Checker {
  switch (shape) {
    case 'number':
      return (value, name, context) => {
        if (typeof value !== 'number') throw unfit(name, value, 'a number')
        checkNumber(value, name, context)
      }
    case 'flag':
      return (value, name) => {
        if (typeof value !== 'boolean') throw unfit(name, value, 'true or false')
      }
    case 'text':
      return (value, name, context) => {
        if (typeof value !== 'string') throw unfit(name, value, 'a text')
        checkText(value, name, context)
      }
    case 'executionId':
    case 'flowId':
      return (value, name, context) => {
        if (typeof value !== 'string') throw unfit(name, value, 'an id')
        context.checkId(value, name, shape)
      }
  }
}

function oneWord(words: readonly unknown[]): Checker {
  return (value, name) => {
    if (!words.includes(value)) throw unfit(name, value, `one of ${words.join(', ')}`)
  }
}

function firstFitting(checks: readonly Checker[]): Checker {
  return (value, name, context) => {
    let refusal: unknown
    for (const check of checks) {
      try {
        check(value, name, context)
        return
      } catch (error) {
        refusal ??= error
      }
    }
    throw refusal
  }
}

function tagOf(shapes: readonly Shape[]): string | undefined {
  const [first] = shapes
  if (first === undefined || typeof first === 'string' || !('fields' in first)) return undefined
  return Object.keys(first.fields).find((name) => {
    const words = shapes.map((shape) => wordOf(shape, name))
    return !words.includes(undefined) && new Set(words).size === words.length
  })
}

function wordOf(shape: Shape, tag: string): string | undefined {
  const field = typeof shape !== 'string' && 'fields' in shape ? shape.fields[tag] : undefined
  return typeof field === 'object' && 'is' in field && typeof field.is === 'string' ? field.is : undefined
}

function objectOf(value: unknown, name: string): Readonly<Record<string, unknown>> {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>
  throw unfit(name, value, 'an object')
}

function unfit(name: string, value: unknown, form: string): Error {
  return invalidInput(name, `${name} is ${show(value)}, but must be ${form}.`)
}
