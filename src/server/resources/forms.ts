/** What the signals of tasks carry, so that a page can ask for it field by field. */
import { z } from 'zod'
import { formOf, jsonSchemaOf } from '../../client/index.ts'
import type { AnyTask } from '../../client/index.ts'
import { NAME_BYTES } from '../../kernel/limits.ts'
import { json, route } from '../routes/route.ts'

const field = z
  .object({
    type: z.enum(['string', 'number', 'integer', 'boolean']),
    title: z.string().optional(),
    description: z.string().optional(),
    enum: z.array(z.string()).optional(),
    default: z.union([z.string(), z.number(), z.boolean()]).optional(),
    minLength: z.int().optional(),
    maxLength: z.int().optional(),
    minimum: z.number().optional(),
    maximum: z.number().optional(),
    format: z.string().optional(),
  })
  .meta({ id: 'FormField', description: 'A field of a form, in JSON Schema.' })

const form = z
  .object({
    name: z.string().describe('The name of the signal.'),
    properties: z.record(z.string(), field).describe('The fields of its value, which is an object.'),
    required: z.array(z.string()),
  })
  .meta({ id: 'SignalForm' })

export const formRoutes = [
  route({
    name: 'listForms',
    method: 'GET',
    path: '/v1/forms',
    tag: 'waitpoints',
    summary: 'List the forms of the signals of a task, of which the server knows the contract',
    description:
      'A signal has a form if its schema is an object with fields that are texts, numbers or booleans. The value is checked by the handler in any case.',
    access: 'viewer',
    scope: 'namespace',
    query: z.strictObject({ task: z.string().min(1).max(NAME_BYTES) }),
    answers: {
      200: json(z.object({ items: z.array(form) }), 'The forms; none if the server does not know the task.'),
    },
    handle: ({ server, query }) => ({ status: 200, body: { items: formsOf(server.tasks.get(query.task)) } }),
  }),
]

function formsOf(task: AnyTask | undefined): z.output<typeof form>[] {
  const signals = (task?.signals ?? {}) as Readonly<Record<string, Parameters<typeof jsonSchemaOf>[0]>>
  return Object.entries(signals).flatMap(([name, schema]) => {
    const converted = jsonSchemaOf(schema)
    const parsed = form.safeParse({ required: [], ...(converted && formOf(converted)), name })
    return parsed.success ? [parsed.data] : []
  })
}
