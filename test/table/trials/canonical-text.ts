/** Any plain value as text: fields by name, nothing for what is absent. */
import { SEPARATOR } from '../../../src/kernel/index.ts'

/** Joined names are shown with a slash. */
export function nameText(name: string): string {
  return name.split(SEPARATOR).join('/')
}

export function canonicalText(value: unknown): string {
  switch (typeof value) {
    case 'string':
      return `"${nameText(value)}"`
    case 'number':
    case 'boolean':
      return String(value)
    case 'object':
      return structureText(value as object)
    default:
      return 'absent'
  }
}

/** An empty object reads like an empty list. */
function structureText(value: object): string {
  if (Array.isArray(value)) return `[${value.map(canonicalText).join(' ')}]`
  const present = Object.entries(value).filter(([, field]) => field !== undefined)
  if (present.length === 0) return '[]'
  const fields = present.map(([name, field]) => `${name}=${canonicalText(field)}`)
  return `{${fields.sort().join(' ')}}`
}
