/**
 * Writes the kernel's codec as straight Lua, from the schema itself: one function per record type that packs a record
 * into its stored bytes, and one that unpacks it. Walking the schema field by field inside the server costs several times
 * as much; the cells that come out are the same ones, which the differential suite proves.
 */
import type { Field, FieldKind, Variant } from '../src/kernel/codec.ts'
import { eventFields, fieldsOf, recordTypes } from '../src/kernel/schema.ts'

/** Values behind the last known field are carried along under this name, as the codec does everywhere. */
const UNKNOWN = 'unknownValues'

/** Lua text that is written once and referred to by name. */
class Definitions {
  readonly lines: string[] = []
  #count = 0

  add(text: (name: string) => string): string {
    this.#count += 1
    const name = `codec.n${this.#count}`
    this.lines.push(text(name))
    return name
  }
}

/** Field names are always quoted: `until` and `end` are words of the language. */
function quoted(text: string): string {
  return JSON.stringify(text)
}

/** An expression for the cell of a value that may be absent. `value` is read more than once, so it must be a plain name or field. */
function packed(of: FieldKind, value: string, definitions: Definitions): string {
  switch (of.kind) {
    case 'text':
    case 'number':
      return `${value} or false`
    case 'flag':
      return `${value} and 1 or ${value} == false and 0 or false`
    case 'word':
      return `${numbersOf(of.words, definitions)}[${value}] or false`
    case 'list':
      if (isPlain(of.of)) return `${value} or false`
      return `${value} and ${listPacker(of.of, definitions)}(${value}) or false`
    case 'object':
      return `${value} and ${objectPacker(of.fields, definitions)}(${value}) or false`
    case 'union':
      return `${value} and ${unionPacker(of.tag, of.variants, definitions)}(${value}) or false`
  }
}

/** An expression for the value of a cell that may be absent. */
function unpacked(of: FieldKind, cell: string, definitions: Definitions): string {
  switch (of.kind) {
    case 'text':
    case 'number':
      return `${cell} or nil`
    case 'flag':
      return `codec.flag(${cell})`
    case 'word':
      return `${wordsOf(of.words, definitions)}[${cell}]`
    case 'list':
      if (isPlain(of.of)) return `${cell} or nil`
      return `${cell} and ${listUnpacker(of.of, definitions)}(${cell}) or nil`
    case 'object':
      return `${cell} and ${objectUnpacker(of.fields, definitions)}(${cell}) or nil`
    case 'union':
      return `${cell} and ${unionUnpacker(of.tag, of.variants, definitions)}(${cell}) or nil`
  }
}

/** Whether a value is its own cell, so that a list of such is a list of cells already. */
function isPlain(of: FieldKind): boolean {
  return of.kind === 'text' || of.kind === 'number'
}

function numbersOf(words: readonly string[], definitions: Definitions): string {
  const pairs = words.map((word, number) => `[${quoted(word)}] = ${number}`)
  return definitions.add((name) => `${name} = { ${pairs.join(', ')} }`)
}

function wordsOf(words: readonly string[], definitions: Definitions): string {
  const pairs = words.map((word, number) => `[${number}] = ${quoted(word)}`)
  return definitions.add((name) => `${name} = { ${pairs.join(', ')} }`)
}

function listPacker(of: FieldKind, definitions: Definitions): string {
  const cell = packed(of, 'item', definitions)
  return definitions.add(
    (name) =>
      `function ${name}(list) local cells = {} for i = 1, #list do local item = list[i] cells[i] = ${cell} end return cells end`,
  )
}

function listUnpacker(of: FieldKind, definitions: Definitions): string {
  const value = unpacked(of, 'cell', definitions)
  return definitions.add(
    (name) =>
      `function ${name}(cells) local list = {} for i = 1, #cells do local cell = cells[i] list[i] = ${value} end return list end`,
  )
}

function cellsOf(fields: readonly Field[], definitions: Definitions): string[] {
  return fields.map((field) => packed(field.of, `value[${quoted(field.name)}]`, definitions))
}

function objectPacker(fields: readonly Field[], definitions: Definitions): string {
  const cells = cellsOf(fields, definitions).join(', ')
  return definitions.add(
    (name) =>
      `function ${name}(value) local cells = { ${cells} } if value.${UNKNOWN} then codec.append(cells, value.${UNKNOWN}) end return cells end`,
  )
}

function valuesOf(fields: readonly Field[], skipped: number, definitions: Definitions): string[] {
  return fields.map(
    (field, i) => `[${quoted(field.name)}] = ${unpacked(field.of, `cells[${skipped + i + 1}]`, definitions)}`,
  )
}

function objectUnpacker(fields: readonly Field[], definitions: Definitions): string {
  const values = valuesOf(fields, 0, definitions).join(', ')
  const known = fields.length
  return definitions.add(
    (name) =>
      `function ${name}(cells) local value = { ${values} } if cells[${known + 1}] ~= nil then value.${UNKNOWN} = codec.rest(cells, ${known}) end return value end`,
  )
}

function unionPacker(tag: string, variants: readonly Variant[], definitions: Definitions): string {
  const packers = variants.map(({ word, fields }, number) => {
    const cells = [String(number), ...cellsOf(fields, definitions)].join(', ')
    return `[${quoted(word)}] = function(value) local cells = { ${cells} } if value.${UNKNOWN} then codec.append(cells, value.${UNKNOWN}) end return cells end`
  })
  const byWord = definitions.add((name) => `${name} = { ${packers.join(', ')} }`)
  return definitions.add((name) => `function ${name}(value) return ${byWord}[value.${tag}](value) end`)
}

function unionUnpacker(tag: string, variants: readonly Variant[], definitions: Definitions): string {
  const unpackers = variants.map(({ word, fields }, number) => {
    const values = [`${tag} = ${quoted(word)}`, ...valuesOf(fields, 1, definitions)].join(', ')
    const known = fields.length + 1
    return `[${number}] = function(cells) local value = { ${values} } if cells[${known + 1}] ~= nil then value.${UNKNOWN} = codec.rest(cells, ${known}) end return value end`
  })
  const byNumber = definitions.add((name) => `${name} = { ${unpackers.join(', ')} }`)
  return definitions.add(
    (name) => `function ${name}(cells) local unpacker = ${byNumber}[cells[1]] return unpacker and unpacker(cells) end`,
  )
}

/** The outermost cells stand one after the other without a list around them, which saves a table each way. */
function outerPacker(fields: readonly Field[], definitions: Definitions): string {
  const cells = cellsOf(fields, definitions).join(', ')
  return [
    'function(value)',
    `  if value.${UNKNOWN} then return pack(${cells}, unpackList(value.${UNKNOWN})) end`,
    `  return pack(${cells})`,
    'end',
  ].join('\n')
}

function outerUnpacker(first: string, fields: readonly Field[], definitions: Definitions): string {
  const names = fields.map((_, i) => `c${i + 1}`)
  const values = fields.map((field, i) => `[${quoted(field.name)}] = ${unpacked(field.of, `c${i + 1}`, definitions)}`)
  return [
    'function(bytes)',
    `  local ${names.join(', ')}, beyond = unpack(bytes)`,
    `  local value = { ${[first, ...values].join(', ')} }`,
    `  if beyond ~= nil then value.${UNKNOWN} = codec.rest({ unpack(bytes) }, ${fields.length}) end`,
    '  return value',
    'end',
  ].join('\n')
}

/** The body of a function that is given the server's `pack` and `unpack`, and returns the packers and unpackers by record type. */
export function luaCodec(): string {
  const definitions = new Definitions()
  const packers = recordTypes.map((type) => `[${quoted(type)}] = ${outerPacker(fieldsOf(type), definitions)}`)
  const unpackers = recordTypes.map(
    (type) => `[${quoted(type)}] = ${outerUnpacker(`type = ${quoted(type)}`, fieldsOf(type), definitions)}`,
  )
  const packEvent = outerPacker(eventFields, definitions)
  return [
    'local codec = {}',
    'function codec.flag(cell) if not cell then return nil end return cell == 1 end',
    'function codec.append(cells, more) for i = 1, #more do cells[#cells + 1] = more[i] end end',
    'function codec.rest(cells, known) local rest = {} for i = known + 1, #cells do rest[#rest + 1] = cells[i] end return rest end',
    ...definitions.lines,
    `return { pack = { ${packers.join(',\n')} }, unpack = { ${unpackers.join(',\n')} }, packEvent = ${packEvent} }`,
  ].join('\n')
}
