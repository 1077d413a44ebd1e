/**
 * Writes the layout of the Valkey store (src/stores/valkey/layout.ts) as straight Lua, from the schemas themselves: for
 * every object one function that packs it and one that unpacks it. Walking a schema field by field inside the server, or
 * packing tables with names, costs several times as much.
 */
import type { Field, FieldKind, Variant } from '../src/kernel/codec.ts'
import { operations } from '../src/kernel/operations.ts'
import { fieldsOf, recordTypes } from '../src/kernel/schema.ts'
import { ABSENT_BYTE, ABSENT_COUNT, ABSENT_WHOLE } from '../src/stores/valkey/layout.ts'
import {
  BY_LAYOUT,
  FAULT,
  WITH_NAMES,
  eventFieldsByType,
  inputLayouts,
  resultLayouts,
  wakeFields,
} from '../src/stores/valkey/wire.ts'
import { keyKinds } from '../src/stores/valkey/keys.ts'

/** Lua text that is written once and referred to by name. The same text gets the same name. */
class Definitions {
  readonly lines: string[] = []
  readonly #names = new Map<string, string>()

  add(text: (name: string) => string): string {
    const shape = text('')
    const known = this.#names.get(shape)
    if (known !== undefined) return known
    const name = `layout.n${this.#names.size + 1}`
    this.#names.set(shape, name)
    this.lines.push(text(name))
    return name
  }
}

/** Field names are always quoted: `until` and `end` are words of the language. */
function quoted(text: string): string {
  return JSON.stringify(text)
}

/** How a plain field is packed: its format, and the arguments behind it. `value` is read several times. */
interface Plain {
  readonly format: string
  readonly args: string[]
}

function packedPlain(of: FieldKind, value: string, definitions: Definitions): Plain {
  switch (of.kind) {
    case 'text':
      return { format: 'Hc0', args: [`#(${value} or ABSENT)`, `${value} or ABSENT`] }
    case 'number':
      return of.whole === true
        ? { format: 'I6', args: [`${value} or ${ABSENT_WHOLE}`] }
        : { format: 'd', args: [`${value} or NAN`] }
    case 'flag':
      return { format: 'B', args: [`${value} and 1 or ${value} == nil and ${ABSENT_BYTE} or 0`] }
    case 'word':
      return { format: 'B', args: [`${numbersOf(of.words, definitions)}[${value}] or ${ABSENT_BYTE}`] }
    case 'list':
      return { format: 'H', args: [`${value} and #${value} or ${ABSENT_COUNT}`] }
    case 'object':
      return { format: 'B', args: [`${value} and 1 or 0`] }
    case 'union': {
      const numbers = numbersOf(
        of.variants.map((variant) => variant.word),
        definitions,
      )
      return { format: 'B', args: [`${value} and ${numbers}[${value}[${quoted(of.tag)}]] or ${ABSENT_BYTE}`] }
    }
  }
}

/** An expression for what follows the plain fields; undefined if nothing does. */
function packedPart(of: FieldKind, value: string, definitions: Definitions): string | undefined {
  switch (of.kind) {
    case 'list':
      return `(${value} and #${value} > 0 and ${listPacker(of.of, definitions)}(${value}) or '')`
    case 'object':
      return `(${value} and ${packer(of.fields, definitions)}(${value}) or '')`
    case 'union':
      return `(${value} and ${unionPacker(of.variants, definitions)}[${value}[${quoted(of.tag)}]](${value}) or '')`
    case 'text':
    case 'number':
    case 'flag':
    case 'word':
      return undefined
  }
}

function packExpression(of: FieldKind, value: string, definitions: Definitions): string {
  const { format, args } = packedPlain(of, value, definitions)
  const part = packedPart(of, value, definitions)
  const plain = `pack('<${format}', ${args.join(', ')})`
  return part === undefined ? plain : `${plain} .. ${part}`
}

/** The format of an object's plain fields, with their arguments, and the parts behind them. */
interface Packing extends Plain {
  readonly parts: string[]
  /** Fields that are read more than once are read into locals first. */
  readonly locals: string
}

function packing(
  fields: readonly Field[],
  definitions: Definitions,
  source: (name: string) => string = (name) => `value[${quoted(name)}]`,
): Packing {
  let format = ''
  const args: string[] = []
  const parts: string[] = []
  const names: string[] = []
  const values: string[] = []
  for (const [i, field] of fields.entries()) {
    const content = source(field.name)
    const value = field.of.kind === 'number' && field.rare !== true ? content : `v${i + 1}`
    if (value !== content) {
      names.push(value)
      values.push(field.of.kind === 'text' && field.rare !== true ? `${content} or ABSENT` : content)
    }
    if (field.rare === true) {
      format += 'B'
      args.push(`${value} ~= nil and 1 or 0`)
      parts.push(`(${value} ~= nil and ${packExpression(field.of, value, definitions)} or '')`)
      continue
    }
    const plain =
      field.of.kind === 'text'
        ? { format: 'Hc0', args: [`#${value}`, value] }
        : packedPlain(field.of, value, definitions)
    format += plain.format
    args.push(...plain.args)
    const part = packedPart(field.of, value, definitions)
    if (part !== undefined) parts.push(part)
  }
  const locals = names.length === 0 ? '' : `local ${names.join(', ')} = ${values.join(', ')} `
  return { format, args, parts, locals }
}

function packer(fields: readonly Field[], definitions: Definitions): string {
  const { format, args, parts, locals } = packing(fields, definitions)
  const plain = format === '' ? "''" : `pack('<${format}', ${args.join(', ')})`
  return definitions.add((name) => `${name} = function(value) ${locals}return ${[plain, ...parts].join(' .. ')} end`)
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
  const item =
    of.kind === 'object' ? `${packer(of.fields, definitions)}(item)` : packExpression(of, 'item', definitions)
  return definitions.add(
    (name) =>
      `${name} = function(list) local parts = {} for i = 1, #list do local item = list[i] parts[i] = ${item} end return join(parts) end`,
  )
}

function unionPacker(variants: readonly Variant[], definitions: Definitions): string {
  const packers = variants.map(({ word, fields }) => `[${quoted(word)}] = ${packer(fields, definitions)}`)
  return definitions.add((name) => `${name} = { ${packers.join(', ')} }`)
}

/** The format of a plain field as it is read, and the value that it stands for. */
function formatOf(of: FieldKind): string {
  switch (of.kind) {
    case 'text':
      return 'Hc0'
    case 'number':
      return of.whole === true ? 'I6' : 'd'
    case 'list':
      return 'H'
    case 'flag':
    case 'word':
    case 'object':
    case 'union':
      return 'B'
  }
}

function unpackedPlain(of: FieldKind, cell: string, definitions: Definitions): string {
  switch (of.kind) {
    case 'text':
      return `${cell} ~= ABSENT and ${cell} or nil`
    case 'number':
      return of.whole === true
        ? `${cell} ~= ${ABSENT_WHOLE} and ${cell} or nil`
        : `${cell} == ${cell} and ${cell} or nil`
    case 'flag':
      return `FLAGS[${cell}]`
    case 'word':
      return `${wordsOf(of.words, definitions)}[${cell}]`
    case 'list':
    case 'object':
    case 'union':
      return cell
  }
}

/** A statement that puts what `cell` announces into `part`, and moves `at` behind it; undefined for what is whole already. */
function unpackedPart(of: FieldKind, cell: string, part: string, definitions: Definitions): string | undefined {
  switch (of.kind) {
    case 'list':
      return `if ${cell} == 0 then ${part} = {} elseif ${cell} ~= ${ABSENT_COUNT} then ${part}, at = ${listUnpacker(of.of, definitions)}(bytes, at, ${cell}) end`
    case 'object':
      return `if ${cell} == 1 then ${part}, at = ${unpacker(undefined, of.fields, definitions)}(bytes, at) end`
    case 'union':
      return `if ${cell} ~= ${ABSENT_BYTE} then ${part}, at = ${unionUnpacker(of.tag, of.variants, definitions)}[${cell}](bytes, at) end`
    case 'text':
    case 'number':
    case 'flag':
    case 'word':
      return undefined
  }
}

/** `first` is a field that every such object has, besides those of its schema. */
function unpacker(first: string | undefined, fields: readonly Field[], definitions: Definitions): string {
  const format = fields.map((field) => (field.rare === true ? 'B' : formatOf(field.of))).join('')
  const cells = fields.map((_, i) => `c${i + 1}`)
  const statements: string[] = []
  const values = fields.map((field, i) => {
    const cell = `c${i + 1}`
    const part = `p${i + 1}`
    if (field.rare === true) {
      const inner = unpackedPart(field.of, 'rare', part, definitions)
      const rest = inner ?? `${part} = ${unpackedPlain(field.of, 'rare', definitions)}`
      statements.push(
        `local ${part} if ${cell} == 1 then local rare rare, at = unpack('<${formatOf(field.of)}', bytes, at) ${rest} end`,
      )
      return `[${quoted(field.name)}] = ${part}`
    }
    const statement = unpackedPart(field.of, cell, part, definitions)
    if (statement === undefined) return `[${quoted(field.name)}] = ${unpackedPlain(field.of, cell, definitions)}`
    statements.push(`local ${part} ${statement}`)
    return `[${quoted(field.name)}] = ${part}`
  })
  const constructor = `{ ${[...(first === undefined ? [] : [first]), ...values].join(', ')} }`
  const read =
    format === '' ? '' : `local ${cells.join(', ')} ${cells.join(', ')}, at = unpack('<${format}', bytes, at) `
  return definitions.add(
    (name) => `${name} = function(bytes, at) ${read}${statements.join(' ')} return ${constructor}, at end`,
  )
}

function listUnpacker(of: FieldKind, definitions: Definitions): string {
  if (of.kind === 'object') {
    const item = unpacker(undefined, of.fields, definitions)
    return definitions.add(
      (name) =>
        `${name} = function(bytes, at, count) local list = {} for i = 1, count do list[i], at = ${item}(bytes, at) end return list, at end`,
    )
  }
  const value = unpackedPlain(of, 'cell', definitions)
  return definitions.add(
    (name) =>
      `${name} = function(bytes, at, count) local list = {} for i = 1, count do local cell cell, at = unpack('<${formatOf(of)}', bytes, at) list[i] = ${value} end return list, at end`,
  )
}

function unionUnpacker(tag: string, variants: readonly Variant[], definitions: Definitions): string {
  const unpackers = variants.map(
    ({ word, fields }, number) =>
      `[${number}] = ${unpacker(`[${quoted(tag)}] = ${quoted(word)}`, fields, definitions)}`,
  )
  return definitions.add((name) => `${name} = { ${unpackers.join(', ')} }`)
}

function recordUnpacker(type: string, fields: readonly Field[], definitions: Definitions): string {
  const unpack = unpacker(`type = ${quoted(type)}`, fields, definitions)
  return `function(bytes) return (${unpack}(bytes, 1)) end`
}

/** Where a field of an event comes from: the event itself is never made. */
function eventSource(name: string): string {
  switch (name) {
    case 'at':
      return 'at'
    case 'executionId':
      return 'subject.id'
    case 'tags':
      return 'tagTexts(subject.tags)'
    case 'namespace':
    case 'task':
    case 'lane':
      return `subject.${name}`
    case 'flowId':
      return '(subject.member and subject.member.flowId)'
    default:
      return `detail[${quoted(name)}]`
  }
}

/** The type's byte, then the fields of that type: what the layout makes of an object whose only field is the event. */
function eventPackers(definitions: Definitions): string {
  const [field] = eventFieldsByType
  if (field?.of.kind !== 'union') throw new Error('Events are laid out by their type.')
  const packers = field.of.variants.map(({ word, fields }, number) => {
    const { format, args, parts, locals } = packing(fields, definitions, eventSource)
    const plain = `pack('<B${format}', ${[String(number), ...args].join(', ')})`
    return [word, `function(subject, detail, at) ${locals}return ${[plain, ...parts].join(' .. ')} end`] as const
  })
  return byName(packers)
}

function byName(entries: readonly (readonly [string, string])[]): string {
  return `{ ${entries.map(([name, text]) => `[${quoted(name)}] = ${text}`).join(',\n')} }`
}

/** The body of a function that is given the server's `struct.pack`, `struct.unpack` and `table.concat`. */
export function luaLayout(): string {
  const definitions = new Definitions()
  const names = Object.keys(operations).map(quoted)
  const results = Object.entries(resultLayouts).map(([name, { kinds, fields }]) => {
    const known = kinds.map((kind) => `[${quoted(kind)}] = true`).join(', ')
    return [name, `{ kinds = { ${known} }, pack = ${packer(fields, definitions)} }`] as const
  })
  const parts = [
    `pack = ${byName(recordTypes.map((type) => [type, packer(fieldsOf(type), definitions)]))}`,
    `unpack = ${byName(recordTypes.map((type) => [type, recordUnpacker(type, fieldsOf(type), definitions)]))}`,
    `packEvents = ${eventPackers(definitions)}`,
    `packWake = ${packer(wakeFields, definitions)}`,
    `inputs = ${byName(Object.entries(inputLayouts).map(([name, fields]) => [name, unpacker(undefined, fields, definitions)]))}`,
    `results = ${byName(results)}`,
    `keyKinds = ${byName(Object.entries(keyKinds).map(([kind, text]) => [kind, quoted(text)]))}`,
    `codes = { withNames = ${WITH_NAMES}, byLayout = ${BY_LAYOUT}, fault = ${FAULT} }`,
    `operationNames = { ${names.join(', ')} }`,
  ]
  return [
    'local layout = {}',
    `local ABSENT, NAN, FLAGS = string.char(${ABSENT_BYTE}), 0 / 0, { [0] = false, [1] = true }`,
    'local function tagTexts(tags) local texts = {} for i = 1, #tags do texts[2 * i - 1], texts[2 * i] = tags[i].name, tags[i].value end return texts end',
    ...definitions.lines,
    `return { ${parts.join(',\n')} }`,
  ].join('\n')
}
