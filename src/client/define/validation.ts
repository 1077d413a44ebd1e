import type { StandardSchemaV1 } from '@standard-schema/spec'
import type { ErrorCode } from '../../kernel/errors.ts'
import { EngineError } from '../../kernel/engine-error.ts'
import { invalidInput, show } from '../checks/names.ts'

/** Issues listed in one error; a schema may report thousands. */
const ISSUES_SHOWN_MAX = 10

/** Returns the value that a schema parses, or the value itself without a schema. */
export async function validate(
  schema: StandardSchemaV1 | undefined,
  value: unknown,
  code: ErrorCode,
  field: string,
): Promise<unknown> {
  if (schema === undefined) return value
  const outcome = schema['~standard'].validate(value)
  const result = outcome instanceof Promise ? await outcome : outcome
  if (result.issues === undefined) return result.value
  const issues = result.issues.slice(0, ISSUES_SHOWN_MAX).map((issue) => ({
    path: [field, ...(issue.path ?? []).map((step) => String(typeof step === 'object' ? step.key : step))].join('.'),
    message: issue.message,
  }))
  throw new EngineError(code, {
    field,
    issues,
    message: issues.map((issue) => `${issue.path}: ${issue.message}`).join('; '),
  })
}

/** Checks for Standard Schema: an object or a function with a `~standard` property. */
export function checkSchema(schema: unknown, field: string): StandardSchemaV1 {
  const isPossible = (typeof schema === 'object' && schema !== null) || typeof schema === 'function'
  const standard: unknown = isPossible ? (schema as Record<string, unknown>)['~standard'] : undefined
  if (typeof standard === 'object' && standard !== null && 'validate' in standard) {
    if (typeof standard.validate === 'function') return schema as StandardSchemaV1
  }
  throw invalidInput(
    field,
    `${field} is ${show(schema)}, but must be a schema that follows Standard Schema, such as one of Zod, Valibot or ArkType.`,
  )
}
