/**
 * One route: its method and path, the schemas of what it takes and returns, who may call it, and its handler. Validation, the
 * OpenAPI document and the types of the client follow from it.
 */
import type { z } from 'zod'
import type { Client } from '../../client/index.ts'
import type { ErrorCode } from '../../kernel/errors.ts'
import type { Access, Principal, Scope } from '../auth/principal.ts'
import type { Frozen } from '../schemas/problem.ts'
import type { ServerParts } from '../server-parts.ts'

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

export type Tag =
  | 'executions'
  | 'flows'
  | 'waitpoints'
  | 'lanes'
  | 'limits'
  | 'budgets'
  | 'schedules'
  | 'leases'
  | 'workers'
  | 'events'
  | 'system'

/** The names in the braces of a path. */
export type ParamsOf<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? Name | ParamsOf<Rest>
  : never

/** What a route answers: JSON that fits a schema, a page, text of a media type, or a stream of events whose data fits a schema. */
export type Answer =
  | { readonly json: z.ZodType; readonly description: string }
  | { readonly html: true; readonly description: string }
  | { readonly text: string; readonly description: string }
  | { readonly events: z.ZodType; readonly description: string }

export type Answers = Readonly<Record<number, Answer>>

/** What a handler returns: the status and the body of a JSON answer, or a response that it has made itself. */
export type ReplyOf<A extends Answers> =
  | { [S in keyof A]: A[S] extends { readonly json: infer J extends z.ZodType } ? JsonReply<S, J> : never }[keyof A]
  | Response

interface JsonReply<Status, Schema extends z.ZodType> {
  readonly status: Status
  readonly body: Frozen<z.input<Schema>>
}

export interface RouteCall<Path extends string = string, Query = unknown, Body = unknown> {
  /** Bound to the namespace of the request. */
  readonly client: Client
  readonly params: Readonly<Record<ParamsOf<Path>, string>>
  readonly query: Query
  readonly body: Body
  readonly principal: Principal
  /** False if the values of users are withheld from the caller: inputs, results, steps, signals, frames and summaries. */
  readonly seesValues: boolean
  /** The address of the caller, if the host knows it. */
  readonly address: string | undefined
  /** The header `Idempotency-Key`. */
  readonly idempotencyKey: string | undefined
  readonly request: Request
  /** Names the request in the log and in errors. */
  readonly requestId: string
  /** Aborts when the caller disconnects or the server stops. */
  readonly signal: AbortSignal
  readonly server: ServerParts
}

export interface RouteSpec<
  Path extends string = string,
  Verb extends Method = Method,
  Query extends z.ZodObject = z.ZodObject,
  Body extends z.ZodType = z.ZodType,
  A extends Answers = Answers,
> {
  /** Verb and noun, as in the client. Unique. */
  readonly name: string
  readonly method: Verb
  readonly path: Path
  readonly tag: Tag
  readonly summary: string
  readonly description?: string
  readonly access: Access
  readonly scope: Scope
  readonly query?: Query
  readonly body?: Body
  /** `form` takes the fields of a form instead of JSON, and `operations` the bytes of a batch of operations. */
  readonly bodyKind?: 'json' | 'form' | 'operations'
  /** The largest body in bytes; `BODY_BYTES` unless given. */
  readonly bodyBytes?: number
  /** Set for a route that only reads, although its method does not show that. It leaves no audit entry. */
  readonly changesNothing?: true
  /** Whether it honours the header `Idempotency-Key`. */
  readonly takesIdempotencyKey?: boolean
  /** Whether the read token of an execution suffices. Its path names the execution as `id`. */
  readonly isReadable?: boolean
  /** Codes that it may answer with, besides those of every route. */
  readonly errors?: readonly ErrorCode[]
  readonly answers: A
  readonly handle: (
    call: RouteCall<Path, z.output<Query>, z.output<Body>>,
  ) => Promise<ReplyOf<NoInfer<A>>> | ReplyOf<NoInfer<A>>
}

/** A route of any type, as the router and the document see it. */
export interface AnyRoute extends Omit<RouteSpec, 'handle'> {
  readonly handle: (call: RouteCall) => Promise<AnyReply> | AnyReply
}

type AnyReply = { readonly status: number; readonly body: unknown } | Response

/** The largest body of a route that sets no other limit. */
export const BODY_BYTES = 65_536

/** Infers the types of a route from its parts. */
export function route<
  const Path extends string,
  const Verb extends Method,
  Query extends z.ZodObject = z.ZodObject,
  Body extends z.ZodType = z.ZodUndefined,
  const A extends Answers = Answers,
>(spec: RouteSpec<Path, Verb, Query, Body, A>): RouteSpec<Path, Verb, Query, Body, A> & AnyRoute {
  return spec as unknown as RouteSpec<Path, Verb, Query, Body, A> & AnyRoute
}

/** A JSON answer. */
export function json<S extends z.ZodType>(
  schema: S,
  description: string,
): { readonly json: S; readonly description: string } {
  return { json: schema, description }
}

export function events<S extends z.ZodType>(
  schema: S,
  description: string,
): { readonly events: S; readonly description: string } {
  return { events: schema, description }
}
