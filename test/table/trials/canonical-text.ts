/** Any plain value as text that is the same in both languages: fields by name, whole numbers, nothing for what is absent. */
import { LARGEST_PRINTED_INTEGER, SEPARATOR, integerText, isTextBefore } from '../../../src/kernel/index.ts'
import type { Platform } from './platform.ts'

const SPLIT_AT = 1_000_000
const SPLIT_DIGITS = 6

/** Scores are larger than either language prints alike, so they are written in two pieces. */
export function numberText(value: number): string {
  if (value < 0) return '-' + numberText(-value)
  if (value <= LARGEST_PRINTED_INTEGER) return integerText(value)
  const high = Math.floor(value / SPLIT_AT)
  let low = integerText(value - high * SPLIT_AT)
  while (low.length < SPLIT_DIGITS) low = '0' + low
  return integerText(high) + low
}

/** Joined names are shown with a slash. */
export function nameText(name: string): string {
  return name.split(SEPARATOR).join('/')
}

export function canonicalText(platform: Platform, value: unknown): string {
  switch (typeof value) {
    case 'string':
      return '"' + nameText(value) + '"'
    case 'number':
      return numberText(value)
    case 'boolean':
      return value ? 'true' : 'false'
    case 'object':
      return structureText(platform, value as object)
    default:
      return 'absent'
  }
}

function structureText(platform: Platform, value: object): string {
  const parts: string[] = []
  if (platform.isList(value)) {
    for (const item of value as unknown[]) parts.push(canonicalText(platform, item))
    return '[' + parts.join(' ') + ']'
  }
  const names = sortedText(platform.fieldNames(value))
  if (names.length === 0) return '[]'
  const fields = value as Record<string, unknown>
  for (const name of names) parts.push(name + '=' + canonicalText(platform, fields[name]))
  return '{' + parts.join(' ') + '}'
}

export function sortedText(texts: readonly string[]): string[] {
  const sorted: string[] = []
  for (const text of texts) {
    let place = sorted.length
    while (place > 0) {
      const before = sorted[place - 1]
      if (before === undefined || !isTextBefore(text, before)) break
      place = place - 1
    }
    sorted.splice(place, 0, text)
  }
  return sorted
}
