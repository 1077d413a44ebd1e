/**
 * A fabric behind a real HTTP server. Each answer is checked against the table of routes: its status is documented, and its
 * body fits its schema without a field that the schema lacks.
 */
import { onTestFinished } from 'vitest'
import type { z } from 'zod'
import { KeyRing } from '../../src/client/index.ts'
import type { Role } from '../../src/server/index.ts'
import { createFabric } from '../../src/fabric/fabric.ts'
import type { Fabric, FabricOptions } from '../../src/fabric/fabric.ts'
import { createHandler } from '../../src/server/handler.ts'
import type { HandlerOptions } from '../../src/server/handler.ts'
import { bearerToken } from '../../src/server/auth/authenticator.ts'
import { statusOf } from '../../src/server/http/problem.ts'
import { serve } from '../../src/server/node/http-server.ts'
import type { HttpServer } from '../../src/server/node/http-server.ts'
import { codesOf } from '../../src/server/openapi/document.ts'
import { api } from '../../src/server/resources/api.ts'
import type { AnyRoute } from '../../src/server/routes/route.ts'
import { problem } from '../../src/server/schemas/problem.ts'

export type RouteName = (typeof api)[number]['name']

export interface Asked {
  readonly params?: Readonly<Record<string, string>>
  readonly query?: Readonly<Record<string, string | number | boolean>>
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
  readonly signal?: AbortSignal
}

export interface Answered {
  readonly status: number
  readonly headers: Headers
  /** JSON, or the text of a page. */
  readonly body: Readonly<Record<string, unknown>>
  readonly text: string
}

export class Served {
  readonly fabric: Fabric
  readonly server: HttpServer
  /** The routes that have answered with a status below 300. */
  readonly succeeded = new Set<string>()

  constructor(fabric: Fabric, server: HttpServer) {
    this.fabric = fabric
    this.server = server
  }

  get url(): string {
    return this.server.url
  }

  urlOf(name: RouteName, { params = {}, query = {} }: Asked = {}): string {
    const path = routeOf(name).path.replace(/\{(\w+)\}/g, (_, param: string) => encodeURIComponent(params[param] ?? ''))
    const fields = Object.entries(query).map(([key, value]) => [key, String(value)] as const)
    const search = new URLSearchParams(Object.fromEntries(fields)).toString()
    return `${this.url}${path}${search === '' ? '' : `?${search}`}`
  }

  async call(name: RouteName, asked: Asked = {}): Promise<Answered> {
    const { method } = routeOf(name)
    const { body, headers = {}, signal = null } = asked
    const response = await fetch(this.urlOf(name, asked), {
      method,
      signal,
      headers: { ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    const answered = await read(response)
    checkAnswer(routeOf(name), answered)
    if (answered.status < 300) this.succeeded.add(name)
    return answered
  }

  /** The answer of a call that must succeed. */
  async ok(name: RouteName, asked: Asked = {}): Promise<Answered['body']> {
    const { status, body } = await this.call(name, asked)
    if (status >= 300) throw new Error(`${name} answered ${status}: ${JSON.stringify(body)}`)
    return body
  }

  /** The status and the code of a call that must be refused. */
  async refusal(name: RouteName, asked: Asked = {}): Promise<readonly [number, unknown]> {
    const { status, body } = await this.call(name, asked)
    return [status, body['code']]
  }
}

export function routeOf(name: string): AnyRoute {
  const found = (api as readonly AnyRoute[]).find((route) => route.name === name)
  if (found === undefined) throw new Error(`There is no route ${name}.`)
  return found
}

export async function read(response: Response): Promise<Answered> {
  const text = await response.text()
  const isJson = response.headers.get('content-type')?.includes('json') === true
  return {
    status: response.status,
    headers: response.headers,
    text,
    body: isJson ? (JSON.parse(text) as Readonly<Record<string, unknown>>) : {},
  }
}

/** Throws if an answer is not as the document says. */
export function checkAnswer(route: AnyRoute, { status, headers, body, text }: Answered): void {
  const type = headers.get('content-type') ?? ''
  const answer = route.answers[status]
  if (type.startsWith('application/problem+json')) {
    if (!codesOf(route).some((code) => code === body['code'] && statusOf(code) === status)) {
      throw new Error(`${route.name} answered with ${status} ${String(body['code'])}, which is not documented: ${text}`)
    }
    checkFields(route, problem, body)
    return
  }
  if (answer === undefined) throw new Error(`${route.name} answered with the undocumented status ${status}: ${text}`)
  if ('json' in answer) checkFields(route, answer.json, body)
}

function checkFields(route: AnyRoute, schema: z.ZodType, body: unknown): void {
  const parsed = schema.safeParse(body)
  if (!parsed.success) throw new Error(`${route.name}: the body does not fit its schema: ${String(parsed.error)}`)
  const lost = missingIn(body, parsed.data, '')
  if (lost !== undefined) throw new Error(`${route.name}: the field ${lost} of the body is not documented.`)
}

/** The first field that a schema has dropped. */
function missingIn(given: unknown, kept: unknown, path: string): string | undefined {
  if (typeof given !== 'object' || given === null || typeof kept !== 'object' || kept === null) return undefined
  for (const [name, value] of Object.entries(given)) {
    if (!Object.hasOwn(kept, name)) return `${path}${name}`
    const lost = missingIn(value, (kept as Readonly<Record<string, unknown>>)[name], `${path}${name}.`)
    if (lost !== undefined) return lost
  }
  return undefined
}

export interface ServedOptions extends HandlerOptions {
  readonly location?: string
  readonly fabric?: FabricOptions
}

/** Starts a server, which ends with the test. */
export async function served(options: ServedOptions = {}): Promise<Served> {
  const found = await startServed(options)
  onTestFinished(() => stopServed(found))
  return found
}

export async function startServed({
  location = 'memory:',
  fabric: settings,
  ...options
}: ServedOptions = {}): Promise<Served> {
  const fabric = await createFabric(location, { log: 'silent', ...settings })
  const handler = createHandler(fabric, options)
  return new Served(fabric, await serve({ handler, runtime: fabric.runtime, port: 0 }))
}

export async function stopServed({ server, fabric }: Served): Promise<void> {
  await server.close()
  await fabric.close()
}

/** A server on any store, with keys for links and an engine that it shows. It ends with the test. */
export async function servedWhole(location: string): Promise<Served> {
  const fabric = await createFabric(location, { log: 'silent', keys: KeyRing.begin(Date.now()), indexedTags: ['plan'] })
  const handler = createHandler(fabric, { engine: fabric.engine() })
  const found = new Served(fabric, await serve({ handler, runtime: fabric.runtime, port: 0 }))
  onTestFinished(() => stopServed(found))
  return found
}

/** Accepts tokens of the form `<role>` or `<role>-<namespace>`. */
export const byRole: NonNullable<HandlerOptions['authenticate']> = (request) => {
  const [role, namespace] = bearerToken(request)?.split('-') ?? []
  if (role === undefined || role === 'nobody') return undefined
  return { name: role, role: role as Role, ...(namespace === undefined ? {} : { namespace }) }
}

export function bearer(token: string) {
  return { authorization: `Bearer ${token}` }
}

/** One message of a stream. */
export interface Message {
  readonly id: string | undefined
  readonly event: string | undefined
  readonly data: Readonly<Record<string, unknown>>
}

/** Reads the messages of an event stream, as EventSource does. */
export async function* messages(response: Response): AsyncGenerator<Message, void, undefined> {
  if (response.status !== 200 || response.body === null)
    throw new Error(`no stream: ${response.status} ${await response.text()}`)
  let rest = ''
  for await (const chunk of response.body.pipeThrough(new TextDecoderStream())) {
    rest += chunk
    for (let end = rest.indexOf('\n\n'); end !== -1; end = rest.indexOf('\n\n')) {
      const fields = new Map(
        rest
          .slice(0, end)
          .split('\n')
          .map((line) => {
            const colon = line.indexOf(': ')
            return [line.slice(0, colon), line.slice(colon + 2)] as const
          }),
      )
      rest = rest.slice(end + 2)
      const data = fields.get('data')
      yield {
        id: fields.get('id'),
        event: fields.get('event'),
        data: data === undefined ? {} : (JSON.parse(data) as Message['data']),
      }
    }
  }
}
