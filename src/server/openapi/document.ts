/** The OpenAPI 3.1 document, from the routes. */
import { z } from 'zod'
import { errorCatalogue } from '../../kernel/errors.ts'
import type { ErrorCode } from '../../kernel/errors.ts'
import { statusOf } from '../http/problem.ts'
import { PORT_TYPE } from '../../stores/remote/wire.ts'
import { querySchemaOf } from '../routes/query-schema.ts'
import { BODY_BYTES } from '../routes/route.ts'
import type { AnyRoute, Answer } from '../routes/route.ts'
import { problem } from '../schemas/problem.ts'

type Json = Readonly<Record<string, unknown>>

/** Codes that every route may answer with. */
const EVERYWHERE: readonly ErrorCode[] = [
  'invalid_input',
  'forbidden',
  'aborted',
  'internal_error',
  'corruption',
  'newer_schema',
  'invalid_configuration',
  'store_unavailable',
  'store_busy',
  'server_stopping',
]
const WITH_CREDENTIALS: readonly ErrorCode[] = ['unauthorized', 'too_many_failures']
const WITH_BODY: readonly ErrorCode[] = ['payload_too_large', 'request_timeout', 'unsupported_media_type']
const WITH_WRITES: readonly ErrorCode[] = ['store_full', 'level_too_low']

const SCHEMAS = '#/components/schemas/'

export interface DocumentOptions {
  readonly version: string
  readonly basePath: string
}

export function openApiDocument(routes: readonly AnyRoute[], { version, basePath }: DocumentOptions): Json {
  const components = new Components()
  const paths: Record<string, Record<string, Json>> = {}
  for (const route of routes) {
    const methods = (paths[route.path] ??= {})
    methods[route.method.toLowerCase()] = operationOf(route, components)
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'FlowFabric',
      version,
      description: 'Durable executions: submit them, read them, follow them and act on them.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: basePath === '' ? '/' : basePath }],
    paths,
    components: {
      schemas: components.all(),
      securitySchemes: { bearer: { type: 'http', scheme: 'bearer' } },
    },
  }
}

/** The codes that a route may answer with. */
export function codesOf(route: AnyRoute): ErrorCode[] {
  const isWriting = route.method !== 'GET'
  const groups = [
    route.errors ?? [],
    EVERYWHERE,
    needsCredentials(route) ? WITH_CREDENTIALS : [],
    isWriting ? WITH_BODY : [],
    isWriting ? WITH_WRITES : [],
  ]
  return [...new Set(groups.flat())]
}

function operationOf(route: AnyRoute, components: Components): Json {
  const { name, tag, summary, description, access, bodyBytes = BODY_BYTES } = route
  const notes = [
    ...(description === undefined ? [] : [description]),
    ...(needsCredentials(route) ? [`Needs the role \`${access}\`.`] : []),
    ...(route.body === undefined && route.bodyKind === undefined ? [] : [`The body may have ${bodyBytes} bytes.`]),
  ]
  return {
    operationId: name,
    tags: [tag],
    summary,
    description: notes.join(' '),
    security: needsCredentials(route) ? [{ bearer: [] }] : [],
    parameters: parametersOf(route, components),
    ...(route.bodyKind === 'operations' ? { requestBody: octets } : {}),
    ...(route.body === undefined ? {} : { requestBody: bodyOf(route, route.body, components) }),
    responses: { ...answersOf(route, components), ...errorsOf(route, components) },
  }
}

function needsCredentials({ access }: AnyRoute): boolean {
  return access !== 'public' && access !== 'token'
}

function parametersOf(route: AnyRoute, components: Components): Json[] {
  const names = [...route.path.matchAll(/\{(\w+)\}/g)].map((match) => match[1] ?? '')
  const path = names.map((name) => ({
    name,
    in: 'path',
    required: true,
    schema: { type: 'string', minLength: 1 },
    ...(name === 'id' && route.tag !== 'workers' ? { description: 'An id, or the key of the submit.' } : {}),
  }))
  const query = querySchemaOf(route)
  const schema = components.schemaOf(query) as {
    readonly properties?: Record<string, Json>
    readonly required?: string[]
  }
  const fields = Object.entries(schema.properties ?? {}).map(([name, { description, ...field }]) => ({
    name,
    in: 'query',
    required: schema.required?.includes(name) === true,
    ...(description === undefined ? {} : { description }),
    schema: field,
    ...(field['type'] === 'array' ? { style: 'form', explode: false } : {}),
  }))
  return [...path, ...fields, ...(route.takesIdempotencyKey === true ? [idempotencyKey] : [])]
}

const idempotencyKey: Json = {
  name: 'Idempotency-Key',
  in: 'header',
  required: false,
  description: 'A request that is sent again with the same key has no further effect.',
  schema: { type: 'string', minLength: 1, maxLength: 504 },
}

const octets: Json = { required: true, content: { [PORT_TYPE]: { schema: { type: 'string', format: 'binary' } } } }

function bodyOf({ bodyKind = 'json' }: AnyRoute, schema: z.ZodType, components: Components): Json {
  const type = bodyKind === 'form' ? 'application/x-www-form-urlencoded' : 'application/json'
  return { required: !(schema instanceof z.ZodOptional), content: { [type]: { schema: components.schemaOf(schema) } } }
}

function answersOf(route: AnyRoute, components: Components): Record<string, Json> {
  const entries = Object.entries(route.answers).map(([status, answer]) => {
    const content = contentOf(answer, Number(status), components)
    return [status, { description: answer.description, ...(content === undefined ? {} : { content }) }]
  })
  return Object.fromEntries(entries) as Record<string, Json>
}

function contentOf(answer: Answer, status: number, components: Components): Json | undefined {
  if (status === 204) return undefined
  if ('json' in answer) return { 'application/json': { schema: components.schemaOf(answer.json) } }
  if ('events' in answer) {
    return { 'text/event-stream': { schema: { type: 'string' }, 'x-event-data': components.schemaOf(answer.events) } }
  }
  return { ['text' in answer ? answer.text : 'text/html']: { schema: { type: 'string' } } }
}

/** One response for each status, with the codes that have it. */
function errorsOf(route: AnyRoute, components: Components): Record<string, Json> {
  const schema = components.schemaOf(problem)
  const byStatus = new Map<number, ErrorCode[]>()
  for (const code of codesOf(route)) byStatus.set(statusOf(code), [...(byStatus.get(statusOf(code)) ?? []), code])
  const entries = [...byStatus].map(([status, codes]) => {
    const content: Record<string, Json> = { 'application/problem+json': { schema } }
    const page = route.answers[status]
    if (page !== undefined) Object.assign(content, contentOf(page, status, components))
    const description = codes.map((code) => `\`${code}\`: ${errorCatalogue[code].text}`).join(' ')
    return [String(status), { description, content }]
  })
  return Object.fromEntries(entries) as Record<string, Json>
}

/** Schemas with a name are described once, and referred to. */
class Components {
  readonly #schemas: Record<string, unknown> = {}

  /** The input form of an answer is open to fields of later versions. */
  schemaOf(schema: z.ZodType): unknown {
    const { $schema: _dialect, $defs, ...own } = z.toJSONSchema(schema, { io: 'input' })
    for (const [id, definition] of Object.entries($defs ?? {})) this.#schemas[id] ??= placed(definition)
    return placed(own)
  }

  all(): Json {
    return Object.fromEntries(Object.entries(this.#schemas).sort(([a], [b]) => (a < b ? -1 : 1)))
  }
}

/** Points references to the components of the document. */
function placed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(placed)
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).map(([name, part]) => {
    if (name === '$ref' && typeof part === 'string') return [name, part.replace('#/$defs/', SCHEMAS)]
    return [name, placed(part)]
  })
  return Object.fromEntries(entries)
}
