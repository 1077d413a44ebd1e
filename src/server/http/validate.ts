/** Checks a value against the schema of a route. The error names the first field at fault, and lists all. */
import type { z } from 'zod'
import { EngineError } from '../../kernel/engine-error.ts'

/** Issues that an error lists. */
const ISSUE_MAX = 20

export function validated<S extends z.ZodType>(schema: S, value: unknown, field: string): z.output<S> {
  const parsed = schema.safeParse(value)
  if (parsed.success) return parsed.data
  throw refusalOf(parsed.error, field)
}

export function refusalOf({ issues }: z.core.$ZodError, field: string): EngineError {
  const listed = issues.slice(0, ISSUE_MAX).map(({ path, message }) => ({ path: pathOf(path, field), message }))
  const [first] = listed
  return new EngineError('invalid_input', {
    field: first?.path ?? field,
    message: `${first?.path ?? field}: ${first?.message ?? 'it is not valid'}.`,
    issues: listed,
  })
}

function pathOf(path: readonly PropertyKey[], field: string): string {
  const names = path.map((part) => (typeof part === 'number' ? `[${part}]` : String(part)))
  const inner = names.join('.').replaceAll('.[', '[')
  return inner === '' ? field : field === 'body' || field === 'query' ? inner : `${field}.${inner}`
}
