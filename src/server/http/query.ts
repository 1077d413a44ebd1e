/** Converts the texts of a query string to the types of a route's schema, and refuses what the schema does not have. */
import { z } from 'zod'
import { invalidInput, show } from '../../options/invalid-input.ts'

type Kind = 'number' | 'boolean' | 'list' | 'text'

/** The kind of each parameter of a route. */
export type QueryKinds = ReadonlyMap<string, Kind>

export function queryKinds(schema: z.ZodObject): QueryKinds {
  return new Map(Object.entries(schema.shape).map(([name, field]) => [name, kindOf(field as z.ZodType)]))
}

function kindOf(field: z.ZodType): Kind {
  if (field instanceof z.ZodOptional || field instanceof z.ZodDefault) return kindOf(field.unwrap() as z.ZodType)
  if (field instanceof z.ZodNumber) return 'number'
  if (field instanceof z.ZodBoolean) return 'boolean'
  return field instanceof z.ZodArray ? 'list' : 'text'
}

/** Returns an object without a prototype: parameters have names that callers choose. */
export function parseQuery(params: URLSearchParams, kinds: QueryKinds): Readonly<Record<string, unknown>> {
  const values: Record<string, unknown> = Object.create(null) as Record<string, unknown>
  for (const name of new Set(params.keys())) {
    const kind = kinds.get(name)
    if (kind === undefined) throw unknownParameter(name, kinds)
    const texts = params.getAll(name)
    if (kind !== 'list' && texts.length > 1) throw invalidInput(show(name), `${show(name)} is given more than once.`)
    values[name] = kind === 'list' ? texts.flatMap((text) => text.split(',')) : convert(texts[0] ?? '', kind)
  }
  return values
}

/** A text that does not convert is left as it is, and refused by the schema. */
function convert(text: string, kind: Kind): unknown {
  if (kind === 'number') return /^-?\d{1,16}(\.\d{1,16})?$/.test(text) ? Number(text) : text
  if (kind === 'boolean') return text === 'true' ? true : text === 'false' ? false : text
  return text
}

function unknownParameter(name: string, kinds: QueryKinds): Error {
  const known = [...kinds.keys()].join(', ')
  const advice = known === '' ? 'the route takes none' : `the known ones are ${known}`
  return invalidInput('query', `The query has the unknown parameter ${show(name)}; ${advice}.`)
}
