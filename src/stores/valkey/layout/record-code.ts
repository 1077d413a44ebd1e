/**
 * Compiles the fields of a schema into a function that writes an object and one that reads it, in the form that
 * `record-bytes.ts` describes.
 *
 * The functions are compiled from source text, because V8 reads and makes an object whose fields are named in the source
 * several times faster than one whose field names are data. Closures do not help: all closures of one piece of source share
 * what V8 has learned about shapes. The text holds nothing but names and words of the schema, so no input reaches it. A
 * process that forbids code from text (`--disallow-code-generation-from-strings`) cannot load this module.
 */
import { SEPARATOR, UNKNOWN_VALUES } from '../../../kernel/index.ts'
import type { Cell, Field, FieldKind } from '../../../kernel/index.ts'
import type { ByteReader } from './byte-reader.ts'
import { closeList, putCell, putListHead, putNumber, putText } from './put-value.ts'
import type { Put } from './put-value.ts'
import { ABSENT, NUMBER_IN_TAG_MAX, OWN_ID, OWN_ID_REST, OWN_ID_START } from './value-tags.ts'

export interface ObjectCode<T> {
  /** Throws a RangeError for a value that cannot be stored. */
  readonly put: Put<T>
  /** Reads the object behind its tag. Throws a RangeError if the bytes are damaged. */
  readonly read: (reader: ByteReader, tag: number) => T
}

/** What the generated text calls apart from the reader. */
const library = {
  closeList,
  putListHead,
  putNumber,
  putText,

  /** Writes the fields of an object that this program does not know. */
  putUnknown(bytes: Buffer, at: number, cells: readonly Cell[]): number {
    let end = at
    for (const cell of cells) end = putCell(bytes, end, cell)
    return end
  },

  /** How many of the fields are to be written: those at the end that are absent are not. */
  countUnknown: (cells: readonly Cell[]): number => cells.findLastIndex((cell) => cell !== false) + 1,

  readUnknown(reader: ByteReader, count: number): Cell[] {
    const cells: Cell[] = []
    for (let i = 0; i < count; i++) cells.push(reader.cell())
    return cells
  },

  notAWord: (word: unknown, words: readonly string[]): RangeError =>
    new RangeError(`${String(word)} is none of ${words.join(', ')}.`),

  noSuchWord: (number: number, words: readonly string[]): RangeError =>
    new RangeError(`There is no word with the number ${number} in ${words.join(', ')}.`),

  readFlag(tag: number): boolean {
    if (tag > 1) throw new RangeError(`A value with the tag 0x${tag.toString(16)} is not a flag.`)
    return tag === 1
  },

  isId: (id: string, text: string): boolean => id === text,

  isIdStart: (id: string, text: string): boolean => id.startsWith(text) && id.indexOf(SEPARATOR) === text.length,

  isIdRest: (id: string, text: string): boolean =>
    id.length > text.length &&
    id.endsWith(text) &&
    id.indexOf(SEPARATOR) === id.length - text.length - SEPARATOR.length,

  noSuchVariant: (number: number, tag: string): RangeError =>
    new RangeError(`There is no variant with the number ${number} of ${tag}.`),
}

/** Fields of a record that hold its id or mostly a part of it: the test for that, and the tag in their place. */
const ownTexts = new Map<string, { readonly test: keyof typeof library; readonly tag: number }>([
  ['id', { test: 'isId', tag: OWN_ID }],
  ['executionId', { test: 'isIdStart', tag: OWN_ID_START }],
  ['upstreamId', { test: 'isIdStart', tag: OWN_ID_START }],
  ['downstreamId', { test: 'isIdRest', tag: OWN_ID_REST }],
])

/** A field that an object has and that is not stored, with its value. */
interface Constant {
  readonly name: string
  readonly word: string
}

/** Compiles the fields of an object. Objects that are read have every field in its order. */
export function compileObject<T>(fields: readonly Field[]): ObjectCode<T> {
  return compile((source) => source.object(fields))
}

/** Compiles the fields of a record. The type comes first in records that are read. The reader has the id, which is not stored. */
export function compileRecord<T>(type: string, fields: readonly Field[]): ObjectCode<T> {
  return compile((source) => source.object(fields, { name: 'type', word: type }))
}

function compile<T>(write: (source: Source) => string): ObjectCode<T> {
  const source = new Source()
  const name = write(source)
  // eslint-disable-next-line @typescript-eslint/no-implied-eval, @typescript-eslint/no-unsafe-call -- the text is made here
  return new Function('library', source.text(`{ put: put${name}, read: read${name} }`))(library) as ObjectCode<T>
}

/**
 * The text of functions that call each other. `put…(bytes, at, value)` writes a value that is not absent, and
 * `read…(reader, tag)` reads one behind its tag.
 */
class Source {
  readonly #functions: string[] = []
  /** The functions of each kind, which may occur more than once. */
  readonly #names = new Map<FieldKind, string>()
  #count = 0

  text(result: string): string {
    return `'use strict'\nconst { ${Object.keys(library).join(', ')} } = library\n${this.#functions.join('\n')}\nreturn ${result}`
  }

  /** With a constant it is a record. */
  object(fields: readonly Field[], constant?: Constant): string {
    const name = this.#newName('Object')
    this.#add(
      `function put${name}(bytes, start, value) {
        ${this.#putFields(fields, undefined, constant !== undefined)}
      }
      function read${name}(reader, tag) {
        const count = reader.list(tag)
        ${this.#readFields(fields, 0, constant)}
      }`,
    )
    return name
  }

  #union({ tag, variants }: Extract<FieldKind, { kind: 'union' }>): string {
    const name = this.#newName('Union')
    const words = numberedInTags(variants.map((variant) => variant.word))
    for (const [number, { word, fields }] of variants.entries()) {
      this.#add(
        `function put${name}_${number}(bytes, start, value) {
          ${this.#putFields(fields, number)}
        }
        function read${name}_${number}(reader, count) {
          ${this.#readFields(fields, 1, { name: tag, word })}
        }`,
      )
    }
    this.#add(
      `function put${name}(bytes, at, value) {
        switch (value.${identifier(tag)}) {
          ${words.map((word, number) => `case ${quote(word)}: return put${name}_${number}(bytes, at, value)`).join('\n')}
        }
        throw notAWord(value.${tag}, ${quote(words)})
      }
      function read${name}(reader, tag) {
        const count = reader.list(tag)
        const number = count === 0 ? -1 : reader.number(reader.tag())
        switch (number) {
          ${words.map((_, number) => `case ${number}: return read${name}_${number}(reader, count)`).join('\n')}
        }
        throw noSuchVariant(number, ${quote(tag)})
      }`,
    )
    return name
  }

  #list(item: FieldKind): string {
    const name = this.#newName('List')
    this.#add(
      `function put${name}(bytes, start, items) {
        let at = putListHead(bytes, start, items.length)
        for (let i = 0; i < items.length; i++) ${this.#put(item, 'items[i]')}
        return at
      }
      function read${name}(reader, tag) {
        const count = reader.list(tag)
        if (count === 0) return []
        const items = new Array(count)
        for (let i = 0; i < count; i++) { const tag = reader.tag(); items[i] = ${this.#read(item)} }
        return items
      }`,
    )
    return name
  }

  #word(words: readonly string[]): string {
    const name = this.#newName('Word')
    this.#add(
      `const words${name} = ${quote(numberedInTags(words))}
      function number${name}(word) {
        switch (word) {
          ${words.map((word, number) => `case ${quote(word)}: return ${number}`).join('\n')}
        }
        throw notAWord(word, words${name})
      }
      function read${name}(reader, tag) {
        const number = reader.number(tag)
        const word = words${name}[number]
        if (word === undefined) throw noSuchWord(number, words${name})
        return word
      }`,
    )
    return name
  }

  /** Writes an object as the list of its fields, behind the number of its variant. Absent fields at the end are taken back. */
  #putFields(fields: readonly Field[], variant: number | undefined, isRecord = false): string {
    const before = variant === undefined ? 0 : 1
    const puts = fields.map(({ name, of }, i) => {
      return `const f${i} = value.${identifier(name)}
        if (f${i} === undefined) bytes[at++] = ${ABSENT}
        else ${isRecord ? putOwn(name, `f${i}`) : ''} ${this.#put(of, `f${i}`)}`
    })
    const present = fields.map((_, i) => `f${i} !== undefined ? ${before + i + 1} : `).reverse()
    const all = before + fields.length
    return `let at = start + 1
      ${variant === undefined ? '' : `bytes[at++] = ${variant}`}
      ${puts.join('\n')}
      const unknown = value.${UNKNOWN_VALUES}
      if (unknown !== undefined) {
        const count = countUnknown(unknown)
        if (count > 0) return closeList(bytes, start, ${all} + count, putUnknown(bytes, at, unknown) - unknown.length + count)
      }
      const count = ${present.join('')}${before}
      return closeList(bytes, start, count, at - (${all} - count))`
  }

  /** Reads fields from a list of which `before` values have been read. */
  #readFields(fields: readonly Field[], before: number, constant: Constant | undefined): string {
    const reads = fields.map(
      ({ of }, i) => `let f${i}
        if (count > ${before + i}) { const tag = reader.tag(); if (tag !== ${ABSENT}) f${i} = ${this.#read(of)} }`,
    )
    const values = fields.map(({ name }, i) => `${name}: f${i}`)
    const constants = constant === undefined ? [] : [`${constant.name}: ${quote(constant.word)}`]
    const all = before + fields.length
    return `${reads.join('\n')}
      const value = { ${[...constants, ...values].join(', ')} }
      if (count > ${all}) value.${UNKNOWN_VALUES} = readUnknown(reader, count - ${all})
      return value`
  }

  #put(of: FieldKind, value: string): string {
    switch (of.kind) {
      case 'text':
        return `at = putText(bytes, at, ${value})`
      case 'number':
        return `at = putNumber(bytes, at, ${value})`
      case 'flag':
        return `bytes[at++] = ${value} === true ? 1 : 0`
      case 'word':
        return `bytes[at++] = number${this.#nameOf(of)}(${value})`
      case 'list':
      case 'object':
      case 'union':
        return `at = put${this.#nameOf(of)}(bytes, at, ${value})`
    }
  }

  #read(of: FieldKind): string {
    switch (of.kind) {
      case 'text':
        return 'reader.text(tag)'
      case 'number':
        return 'reader.number(tag)'
      case 'flag':
        return 'readFlag(tag)'
      case 'word':
      case 'list':
      case 'object':
      case 'union':
        return `read${this.#nameOf(of)}(reader, tag)`
    }
  }

  #nameOf(of: Exclude<FieldKind, { kind: 'text' | 'number' | 'flag' }>): string {
    const known = this.#names.get(of)
    if (known !== undefined) return known
    const name = this.#functionsOf(of)
    this.#names.set(of, name)
    return name
  }

  #functionsOf(of: Exclude<FieldKind, { kind: 'text' | 'number' | 'flag' }>): string {
    switch (of.kind) {
      case 'word':
        return this.#word(of.words)
      case 'list':
        return this.#list(of.of)
      case 'object':
        return this.object(of.fields)
      case 'union':
        return this.#union(of)
    }
  }

  #newName(kind: string): string {
    this.#count += 1
    return `${kind}${this.#count}`
  }

  #add(text: string): void {
    this.#functions.push(text)
  }
}

/** What stands before the text that writes a field of a record, if the field may be a part of the record's id. */
function putOwn(name: string, value: string): string {
  const own = ownTexts.get(name)
  return own === undefined ? '' : `if (${own.test}(value.id, ${value})) bytes[at++] = ${own.tag}; else`
}

/** Returns the words if the number of each is its own tag, as the text assumes. */
function numberedInTags(words: readonly string[]): readonly string[] {
  if (words.length > NUMBER_IN_TAG_MAX + 1) throw new Error(`There are too many words: ${words.join(', ')}.`)
  return words
}

/** Returns the name of a field if it can stand in the text as it is. */
function identifier(name: string): string {
  if (!/^[A-Za-z_]\w*$/.test(name)) throw new Error(`${name} cannot be the name of a field.`)
  return name
}

function quote(value: string | readonly string[]): string {
  return JSON.stringify(value)
}
