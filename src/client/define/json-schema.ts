/** JSON schemas of Standard Schemas, where their library can convert them. */
import type { StandardSchemaV1 } from '@standard-schema/spec'

export type JsonSchema = Readonly<Record<string, unknown>>

/** The dialect that the protocol assumes for tools. */
const TARGET = 'draft-2020-12'

interface Converter {
  readonly input: (options: { readonly target: string }) => JsonSchema
}

/** Returns the JSON schema of what a schema accepts. Undefined if its library has no converter, or it cannot express the schema. */
export function jsonSchemaOf(schema: StandardSchemaV1 | undefined): JsonSchema | undefined {
  const standard = schema?.['~standard'] as { readonly jsonSchema?: Converter } | undefined
  if (standard?.jsonSchema === undefined) return undefined
  try {
    const { $schema: _dialect, ...converted } = standard.jsonSchema.input({ target: TARGET })
    return converted
  } catch {
    // The schema has a part that JSON Schema cannot express. The submit validates the value in any case.
    return undefined
  }
}

/** The keywords that the form of an elicitation may have for one field. */
const FIELD_KEYWORDS = [
  'type',
  'title',
  'description',
  'enum',
  'default',
  'minLength',
  'maxLength',
  'format',
  'minimum',
  'maximum',
]
const FIELD_TYPES = ['string', 'number', 'integer', 'boolean']
const FIELD_FORMATS = ['email', 'uri', 'date', 'date-time']

/** Returns the schema of a form with flat fields. Undefined if the schema has a part that a form cannot ask for. */
export function formOf(schema: JsonSchema): JsonSchema | undefined {
  const { type, properties, required } = schema
  if (type !== 'object' || typeof properties !== 'object' || properties === null) return undefined
  const fields = Object.entries(properties as Readonly<Record<string, JsonSchema>>).map(
    ([name, field]) => [name, fieldOf(field)] as const,
  )
  if (fields.some(([, field]) => field === undefined)) return undefined
  return { type, properties: Object.fromEntries(fields), ...(required === undefined ? {} : { required }) }
}

/** Keeps what a form can express. The value is validated when it is sent, so a lost bound loses no check. */
export function fieldOf(schema: JsonSchema): JsonSchema | undefined {
  if (!FIELD_TYPES.includes(String(schema['type']))) return undefined
  const kept = Object.entries(schema).filter(
    ([keyword, value]) =>
      FIELD_KEYWORDS.includes(keyword) && (keyword !== 'format' || FIELD_FORMATS.includes(String(value))),
  )
  return Object.fromEntries(kept)
}
