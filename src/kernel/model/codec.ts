/**
 * Records and events as arrays of values. A schema names the fields in their stored order; words become small integers,
 * absent values become `false`. A store writes the array in whatever bytes suit it. Values behind the last field that
 * this schema knows are kept and written back, so an older reader loses nothing.
 */

export type Cell = string | number | false | Cell[]

export type FieldKind =
  | { readonly kind: 'text' }
  /** A whole one is an integer from 0 to 2^48 - 2, which a store may keep in fewer bytes. */
  | { readonly kind: 'number'; readonly whole?: boolean }
  | { readonly kind: 'flag' }
  /** No operation writes a reserved word: only its position in the stored list is kept. */
  | { readonly kind: 'word'; readonly words: readonly string[]; readonly reserved?: readonly string[] }
  | { readonly kind: 'list'; readonly of: FieldKind }
  | { readonly kind: 'object'; readonly fields: readonly Field[] }
  | { readonly kind: 'union'; readonly tag: string; readonly variants: readonly Variant[] }

export interface Field {
  readonly name: string
  readonly of: FieldKind
  /** The value may be `undefined`. The stored form is the same either way. */
  readonly optional?: boolean
  /** Absent more often than not: a store may spend a little more on it when it is there, and less when it is not. */
  readonly rare?: boolean
}

export interface Variant {
  readonly word: string
  readonly fields: readonly Field[]
}

type Fields = Record<string, unknown>

/** Under this name a decoded object carries the values that its schema does not know. */
export const UNKNOWN_VALUES = 'unknownValues'

function wordNumber(words: readonly string[], word: string): number {
  for (let i = 0; i < words.length; i++) if (words[i] === word) return i
  return -1
}

function packValue(of: FieldKind, value: unknown): Cell {
  if (value === undefined) return false
  switch (of.kind) {
    case 'text':
      return value as string
    case 'number':
      return value as number
    case 'flag':
      return value === true ? 1 : 0
    case 'word':
      return wordNumber(of.words, value as string)
    case 'list': {
      const cells: Cell[] = []
      for (const item of value as unknown[]) cells.push(packValue(of.of, item))
      return cells
    }
    case 'object':
      return packFields(of.fields, value as Fields)
    case 'union':
      return packVariant(of.tag, of.variants, value as Fields)
  }
}

function packVariant(tag: string, variants: readonly Variant[], value: Fields): Cell[] {
  for (let i = 0; i < variants.length; i++) {
    const variant = variants[i]
    if (variant !== undefined && variant.word === value[tag]) {
      const cells: Cell[] = [i]
      packBehind(cells, variant.fields, value)
      return cells
    }
  }
  return [-1]
}

/** The stored form of an object. */
export function packFields(fields: readonly Field[], value: object): Cell[] {
  const cells: Cell[] = []
  packBehind(cells, fields, value as Fields)
  return cells
}

function packBehind(cells: Cell[], fields: readonly Field[], values: Fields): void {
  for (const field of fields) cells.push(packValue(field.of, values[field.name]))
  const unknown = values[UNKNOWN_VALUES] as Cell[] | undefined
  if (unknown !== undefined) for (const cell of unknown) cells.push(cell)
}

function unpackValue(of: FieldKind, cell: Cell | undefined): unknown {
  if (cell === undefined || cell === false) return undefined
  switch (of.kind) {
    case 'text':
    case 'number':
      return cell
    case 'flag':
      return cell === 1
    case 'word':
      return of.words[cell as number]
    case 'list': {
      const items: unknown[] = []
      for (const item of cell as Cell[]) items.push(unpackValue(of.of, item))
      return items
    }
    case 'object':
      return unpackFields(of.fields, cell as Cell[])
    case 'union':
      return unpackVariant(of.tag, of.variants, cell as Cell[])
  }
}

function unpackVariant(tag: string, variants: readonly Variant[], cells: Cell[]): Fields | undefined {
  const variant = variants[cells[0] as number]
  if (variant === undefined) return undefined
  const value = unpackInto({}, 1, variant.fields, cells)
  value[tag] = variant.word
  return value
}

/** The object that `packFields` made these cells from. */
export function unpackFields(fields: readonly Field[], cells: Cell[]): Fields {
  return unpackInto({}, 0, fields, cells)
}

/**
 * The same on a copy of an object that has all the fields already, none of them with a value. JavaScript keeps a large
 * object fast only if its fields came with it instead of one by one.
 */
export function unpackOnto(blank: object, fields: readonly Field[], cells: Cell[]): Fields {
  return unpackInto({ ...blank }, 0, fields, cells)
}

/** The fields whose values stand behind the first `skipped` cells. */
function unpackInto(value: Fields, skipped: number, fields: readonly Field[], cells: Cell[]): Fields {
  for (let i = 0; i < fields.length; i++) {
    const field = fields[i]
    if (field !== undefined) value[field.name] = unpackValue(field.of, cells[skipped + i])
  }
  const known = skipped + fields.length
  if (cells.length > known) {
    const unknown: Cell[] = []
    for (let i = known; i < cells.length; i++) unknown.push(cells[i] ?? false)
    value[UNKNOWN_VALUES] = unknown
  }
  return value
}
