/** Finds the route of a method and a path. A literal segment wins over a parameter. */
import type { z } from 'zod'
import { EngineError } from '../../kernel/engine-error.ts'
import { invalidInput, show } from '../../options/invalid-input.ts'
import { queryKinds } from '../http/query.ts'
import type { QueryKinds } from '../http/query.ts'
import { querySchemaOf } from './query-schema.ts'
import type { AnyRoute } from './route.ts'

/** A route, prepared for calls. */
export interface ReadyRoute {
  readonly route: AnyRoute
  readonly querySchema: z.ZodObject
  readonly queryKinds: QueryKinds
  readonly paramNames: readonly string[]
}

export interface Match {
  readonly ready: ReadyRoute
  readonly params: Readonly<Record<string, string>>
}

interface Node {
  readonly literals: Map<string, Node>
  param: Node | undefined
  readonly routes: Map<string, ReadyRoute>
}

const PARAM = /^\{(\w+)\}$/

export class Router {
  readonly #root = newNode()

  constructor(routes: readonly AnyRoute[]) {
    for (const route of routes) this.#add(route)
  }

  /** `path` is encoded, as it stands in the URL. */
  find(method: string, path: string): Match {
    const values: string[] = []
    const node = findNode(this.#root, path.split('/').slice(1), values)
    if (node === undefined) throw new EngineError('route_not_found')
    const ready = node.routes.get(method === 'HEAD' ? 'GET' : method)
    if (ready === undefined) throw new MethodNotAllowed([...node.routes.keys()])
    return { ready, params: paramsOf(ready.paramNames, values) }
  }

  #add(route: AnyRoute): void {
    const paramNames: string[] = []
    let node = this.#root
    for (const segment of route.path.split('/').slice(1)) {
      const name = PARAM.exec(segment)?.[1]
      if (name === undefined) {
        const next = node.literals.get(segment) ?? newNode()
        node.literals.set(segment, next)
        node = next
      } else {
        paramNames.push(name)
        node.param ??= newNode()
        node = node.param
      }
    }
    const querySchema = querySchemaOf(route)
    node.routes.set(route.method, { route, querySchema, queryKinds: queryKinds(querySchema), paramNames })
  }
}

/** The answer has the header `Allow`. */
export class MethodNotAllowed extends EngineError {
  readonly allowed: readonly string[]

  constructor(allowed: readonly string[]) {
    super('method_not_allowed', { message: `It supports ${allowed.join(', ')}.` })
    this.allowed = allowed
  }
}

function newNode(): Node {
  return { literals: new Map(), param: undefined, routes: new Map() }
}

/** Prefers literals, and returns to the parameter if the rest of the path does not fit. Paths are a few segments long. */
function findNode(node: Node, segments: readonly string[], values: string[]): Node | undefined {
  const [segment, ...rest] = segments
  if (segment === undefined) return node.routes.size === 0 ? undefined : node
  const literal = node.literals.get(segment)
  const found = literal && findNode(literal, rest, values)
  if (found !== undefined || node.param === undefined || segment === '') return found
  values.push(segment)
  const below = findNode(node.param, rest, values)
  if (below === undefined) values.pop()
  return below
}

function paramsOf(names: readonly string[], values: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(names.map((name, i) => [name, decode(name, values[i] ?? '')]))
}

function decode(name: string, value: string): string {
  try {
    return decodeURIComponent(value)
  } catch {
    throw invalidInput(name, `${name} is ${show(value)}, which is not a valid part of a URL.`)
  }
}
