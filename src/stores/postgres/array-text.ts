/** Lists of values as Postgres reads them: one text for a whole column. */

// eslint-disable-next-line no-control-regex -- the one character that a text in Postgres cannot hold
const NUL = /\u0000/g
const SPECIAL = /["\\]/

/** Absent values become null. A character that Postgres cannot hold is shown as the sign that stands for it. */
export function textArray(values: readonly (string | undefined)[]): string {
  let list = '{'
  for (const value of values) {
    if (list.length > 1) list += ','
    list += value === undefined ? 'null' : quoted(value)
  }
  return `${list}}`
}

/**
 * The same for names of indexes, which must come back as they were: what cannot be held is written with a mark before it,
 * and so is the mark.
 */
export function nameArray(names: readonly string[]): string {
  return textArray(names.map(storedName))
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

export function numberArray(values: readonly (number | undefined)[]): string {
  return `{${values.map((value) => value ?? 'null').join(',')}}`
}

export function flagArray(values: readonly boolean[]): string {
  return `{${values.join(',')}}`
}

function quoted(text: string): string {
  const held = text.includes('\u0000') ? text.replace(NUL, '\u2400') : text
  return `"${SPECIAL.test(held) ? held.replaceAll('\\', '\\\\').replaceAll('"', '\\"') : held}"`
}
