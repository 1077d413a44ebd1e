/** Calls the HTTP API. Addresses are relative to the document, whose base is the path that the server is mounted at. */
import { routes } from './types.ts'
import type { Problem, Routes } from './types.ts'

export type RouteName = keyof Routes
export type AnswerOf<Name extends RouteName> = Routes[Name]['answer']

/** The parts of a request that a route takes; those without fields may be left out. */
export type Asked<Name extends RouteName> = PartOf<'params', Routes[Name]['params']> &
  Partial<Pick<Routes[Name], 'query'>> &
  PartOf<'body', Routes[Name]['body']> & { readonly signal?: AbortSignal; readonly key?: string }

type PartOf<Name extends string, Part> = undefined extends Part
  ? { readonly [K in Name]?: Part }
  : object extends Part
    ? { readonly [K in Name]?: Part }
    : { readonly [K in Name]: Part }

/** The path of the mount: the document is in its folder `ui`. */
const mount = new URL('..', document.baseURI)

/** A refusal of the server, or a server that could not be reached. */
export class ApiError extends Error {
  readonly code: string
  readonly status: number
  readonly problem: Problem | undefined

  constructor(code: string, status: number, message: string, problem?: Problem) {
    super(message)
    this.code = code
    this.status = status
    this.problem = problem
  }

  get advice(): string | undefined {
    return this.problem?.advice
  }
}

export function addressOf<Name extends RouteName>(
  name: Name,
  asked: { readonly params?: object; readonly query?: object } = {},
): URL {
  const [, path] = routes[name]
  const params = (asked.params ?? {}) as Readonly<Record<string, string>>
  const filled = path.replace(/\{(\w+)\}/g, (_, param: string) => encodeURIComponent(params[param] ?? ''))
  const url = new URL(filled.slice(1), mount)
  for (const [field, value] of Object.entries(asked.query ?? {})) {
    if (value !== undefined && value !== '') url.searchParams.set(field, String(value))
  }
  return url
}

export async function call<Name extends RouteName>(
  name: Name,
  ...[asked]: object extends Asked<Name> ? [asked?: Asked<Name>] : [asked: Asked<Name>]
): Promise<AnswerOf<Name>> {
  const [method] = routes[name]
  const { body, signal, key } = (asked ?? {}) as {
    readonly body?: unknown
    readonly signal?: AbortSignal
    readonly key?: string
  }
  const response = await send(addressOf(name, asked ?? {}), {
    method,
    credentials: 'same-origin',
    headers: {
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...(key === undefined ? {} : { 'idempotency-key': key }),
    },
    ...(signal === undefined ? {} : { signal }),
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  if (!response.ok) throw await refusalOf(response)
  return (await response.json()) as AnswerOf<Name>
}

async function send(url: URL, init: RequestInit): Promise<Response> {
  try {
    return await fetch(url, init)
  } catch (error) {
    if (init.signal?.aborted === true) throw error
    throw new ApiError('unreachable', 0, 'The server does not answer. The page tries again by itself.')
  }
}

async function refusalOf(response: Response): Promise<ApiError> {
  try {
    const problem = (await response.json()) as Problem
    return new ApiError(problem.code, response.status, problem.detail, problem)
  } catch {
    return new ApiError('unknown', response.status, `The server answered with status ${response.status}.`)
  }
}
