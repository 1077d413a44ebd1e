/** An input or an upstream result that does not fit the schemas of this worker, such as one of a newer program. */
import type { StandardSchemaV1 } from '@standard-schema/spec'
import { validate } from '../../client/define/validation.ts'
import { EngineError } from '../../kernel/engine-error.ts'
import { failureOf } from '../error-text.ts'
import { UnfitInputError } from '../lease/held-value.ts'

/** Returns the value that a schema parses. Throws an `UnfitInputError` if the schema rejects the value, or throws itself. */
export async function parseInput(schema: StandardSchemaV1, value: unknown, field: string): Promise<unknown> {
  try {
    return await validate(schema, value, 'invalid_payload', field)
  } catch (cause) {
    const { message } = failureOf('error', cause)
    const detail = cause instanceof EngineError ? cause.detail : { field, message: `${field}: ${message}` }
    throw new UnfitInputError('invalid_payload', detail, { cause })
  }
}
