/** Lists of values as parameters of statements: one for a whole column. */

/** What an array of the server holds. Integers have 32 bits there, bigints 64. */
export type ArrayKind = 'text' | 'integer' | 'bigint' | 'boolean'

/** A list that becomes an array of the server. Absent values become null. */
export class ArrayValue {
  readonly kind: ArrayKind
  readonly values: readonly (string | number | boolean | undefined)[]

  constructor(kind: ArrayKind, values: readonly (string | number | boolean | undefined)[]) {
    this.kind = kind
    this.values = values
  }
}

/** A character that Postgres cannot hold is shown as the sign that stands for it. */
export function textArray(values: readonly (string | undefined)[]): ArrayValue {
  return new ArrayValue('text', values)
}

/**
 * The same for names of indexes, which must come back as they were: what cannot be held is written with a mark before it,
 * and so is the mark.
 */
export function nameArray(names: readonly string[]): ArrayValue {
  return new ArrayValue('text', names.map(storedName))
}

const MARK = '\u{10ffff}'

function storedName(name: string): string {
  if (!name.includes('\u0000') && !name.includes(MARK)) return name
  return name.replaceAll(MARK, `${MARK}1`).replaceAll('\u0000', `${MARK}0`)
}

/** A name as it was before it was stored. */
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
