/** The types of requests and answers, from the table of routes. Nothing of the server is loaded: these are types alone. */
import type { z } from 'zod'
import type { api } from '../server/resources/api.ts'
import type { Method, ParamsOf } from '../server/routes/route.ts'

type AnyOf = (typeof api)[number]

/** The paths of the routes that a method has. */
export type PathOf<Verb extends Method> = Extract<AnyOf, { readonly method: Verb }>['path']

type RouteOf<Verb extends Method, Path> = Extract<AnyOf, { readonly method: Verb; readonly path: Path }>

type JsonAt<Route, Status extends number> = Route extends {
  readonly answers: Readonly<Record<Status, { readonly json: infer Json extends z.ZodType }>>
}
  ? z.output<Json>
  : never

/** What a route answers. */
export type AnswerOf<Verb extends Method, Path extends string> =
  JsonAt<RouteOf<Verb, Path>, 200> | JsonAt<RouteOf<Verb, Path>, 201> | JsonAt<RouteOf<Verb, Path>, 202>

type EventsOf<Route> = Route extends {
  readonly answers: Readonly<Record<200, { readonly events: infer Events extends z.ZodType }>>
}
  ? z.output<Events>
  : never

/** The data of the messages of a stream. */
export type EventOf<Path extends string> = EventsOf<RouteOf<'GET', Path>>

/** The paths that answer with a stream of messages. */
export type StreamPath = Extract<PathOf<'GET'>, `${string}/events` | `${string}/live`>

type QueryOf<Route> = Route extends { readonly query?: infer Query } ? z.input<NonNullable<Query>> : never
type BodyOf<Route> = Route extends { readonly body?: infer Body } ? z.input<NonNullable<Body>> : never

interface Common {
  /** Routes that act in a namespace take its name. */
  readonly namespace?: string
  readonly signal?: AbortSignal
  /** Makes a request that is sent again have no further effect. */
  readonly idempotencyKey?: string
}

type Params<Path extends string> = [ParamsOf<Path>] extends [never]
  ? { readonly params?: undefined }
  : { readonly params: Readonly<Record<ParamsOf<Path>, string>> }

/** What a request takes. */
export type AskedOf<Verb extends Method, Path extends string> = Common &
  Params<Path> & {
    readonly query?: QueryOf<RouteOf<Verb, Path>>
    readonly body?: BodyOf<RouteOf<Verb, Path>>
  }
