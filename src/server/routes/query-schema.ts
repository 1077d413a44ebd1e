import { z } from 'zod'
import { NAME_BYTES } from '../../kernel/limits.ts'
import type { AnyRoute } from './route.ts'

const namespaced = z.strictObject({
  namespace: z
    .string()
    .min(1)
    .max(NAME_BYTES)
    .optional()
    .describe('The namespace to act in. That of the credentials or of the server unless given.'),
})
const empty = z.strictObject({})

/** Returns the schema of a route's query. Routes that act in a namespace take its name there. */
export function querySchemaOf({ query = empty, scope, access }: AnyRoute): z.ZodObject {
  const own = query.strict()
  return scope === 'namespace' && access !== 'public' && access !== 'token' ? own.extend(namespaced.shape) : own
}
