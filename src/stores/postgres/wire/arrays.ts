/** Lists as parameters of statements: one for a whole column. */

/** The element type of an array. Integers have 32 bits, bigints 64. */
export type ArrayKind = 'text' | 'integer' | 'bigint' | 'boolean'

/** A list to send as an array. Absent values become null. */
export class ArrayValue {
  readonly kind: ArrayKind
  readonly values: readonly (string | number | boolean | undefined)[]

  constructor(kind: ArrayKind, values: readonly (string | number | boolean | undefined)[]) {
    this.kind = kind
    this.values = values
  }
}

/** Replaces the character NUL, which Postgres cannot store, by its visible symbol. */
export function textArray(values: readonly (string | undefined)[]): ArrayValue {
  return new ArrayValue('text', values)
}

/**
 * Escapes NUL in names of indexes, which must be read back unchanged: a mark and "0" stand for NUL, a mark and "1" for
 * the mark.
 */
export function nameArray(names: readonly string[]): ArrayValue {
  return new ArrayValue('text', names.map(storedName))
}

const MARK = '\u{10ffff}'

function storedName(name: string): string {
  if (!name.includes('\u0000') && !name.includes(MARK)) return name
  return name.replaceAll(MARK, `${MARK}1`).replaceAll('\u0000', `${MARK}0`)
}

/** Reverses the escaping of a stored name. */
export function nameOf(stored: string): string {
  return stored.includes(MARK) ? stored.replaceAll(`${MARK}0`, '\u0000').replaceAll(`${MARK}1`, MARK) : stored
}

export function integerArray(values: readonly (number | undefined)[]): ArrayValue {
  return new ArrayValue('integer', values)
}

export function bigintArray(values: readonly (number | undefined)[]): ArrayValue {
  return new ArrayValue('bigint', values)
}

export function flagArray(values: readonly boolean[]): ArrayValue {
  return new ArrayValue('boolean', values)
}
