/**
 * Random requests that are made from the OpenAPI document: mostly valid ones, with names that exist and that do not, and some
 * that are damaged. Each is answered in time, with a documented status and body, and never with 500.
 */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { KeyRing } from '../../src/client/index.ts'
import { api } from '../../src/server/resources/api.ts'
import { holdsForAny } from '../properties/random-runs.ts'
import { checkAnswer, read, routeOf, served } from './served.ts'

const LIMIT_MS = 60_000
/** Requests to each route, which are the same in every run of the tests. */
const FIRST_RUNS = 3

type Schema = Readonly<Record<string, unknown>>

const documentSchema = z.object({
  paths: z.record(
    z.string(),
    z.record(
      z.string(),
      z.object({
        operationId: z.string(),
        parameters: z.array(
          z.object({
            name: z.string(),
            in: z.enum(['path', 'query', 'header']),
            required: z.boolean(),
            schema: z.record(z.string(), z.unknown()),
          }),
        ),
        requestBody: z
          .object({
            required: z.boolean(),
            content: z.record(z.string(), z.object({ schema: z.record(z.string(), z.unknown()) })),
          })
          .optional(),
      }),
    ),
  ),
  components: z.object({ schemas: z.record(z.string(), z.record(z.string(), z.unknown())) }),
})

/** Names that executions, flows, lanes and so on of the test have, and a few others. */
const names = fc.oneof(
  { weight: 12, arbitrary: fc.constantFrom('a', 'b', 'sum', 'sum', 'default') },
  { weight: 1, arbitrary: fc.constantFrom('nobody', '0', 'é/%2f?#', 'e1.0', 'n1.1', 'm1.0.', '-1') },
)
/** Texts that no schema asks for. */
const wild = fc.oneof(fc.constant(''), fc.string({ maxLength: 20 }), fc.string({ unit: 'binary', maxLength: 10 }))

function textOf({ pattern, format }: Schema): fc.Arbitrary<string> {
  const fitting =
    format === 'base64'
      ? fc.constantFrom('AQID', '')
      : pattern === undefined
        ? names
        : fc.constantFrom('30ms', '1s', '1.5m', '7d')
  return fc.oneof({ weight: 20, arbitrary: fitting }, { weight: 1, arbitrary: wild })
}

/** A field that may be absent mostly is: requests with all fields contradict themselves. */
function seldom(values: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> {
  return fc.oneof({ weight: 4, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary: values })
}

/** Values that fit a schema, for the most part: formats and patterns are not followed to the letter. */
class Values {
  readonly #named: Readonly<Record<string, Schema>>

  constructor(named: Readonly<Record<string, Schema>>) {
    this.#named = named
  }

  /** Waits are short, so that many requests fit the time of the test. */
  field(name: string, schema: Schema): fc.Arbitrary<unknown> {
    return name === 'wait' ? fc.constantFrom('0ms', '10ms', 20, '1h') : this.of(schema)
  }

  of(schema: Schema): fc.Arbitrary<unknown> {
    const { $ref, type, enum: words, const: only, anyOf } = schema
    if (typeof $ref === 'string') return this.of(this.#named[$ref.slice($ref.lastIndexOf('/') + 1)] ?? {})
    if (Array.isArray(words)) return fc.constantFrom(...(words as unknown[]))
    if (only !== undefined) return fc.constant(only)
    if (Array.isArray(anyOf)) return fc.oneof(...(anyOf as Schema[]).map((each) => this.of(each)))
    switch (type) {
      case 'string':
        return textOf(schema)
      case 'integer':
        return this.#whole(schema)
      case 'number':
        return fc.oneof(this.#whole(schema), fc.double({ min: 0, max: 1_000, noNaN: true }))
      case 'boolean':
        return fc.boolean()
      case 'null':
        return fc.constant(null)
      case 'array':
        return fc.array(this.of((schema['items'] ?? {}) as Schema), { maxLength: 3 })
      case 'object':
        return this.#object(schema)
      default:
        return fc.oneof(fc.jsonValue({ maxDepth: 3 }), this.#submission())
    }
  }

  #whole({ minimum, maximum }: Schema): fc.Arbitrary<number> {
    const [min, max] = [Number(minimum ?? 0), Number(maximum ?? 10_000)]
    return fc.oneof(
      fc.integer({ min: Math.max(Math.ceil(min), 0), max: Math.min(max, 10_000) }),
      fc.constantFrom(min, max),
    )
  }

  #object({ properties = {}, required = [], additionalProperties }: Schema): fc.Arbitrary<unknown> {
    const isRequired = (name: string) => (required as string[]).includes(name)
    const fields = Object.entries(properties as Record<string, Schema>).map(([name, each]) => {
      const values = this.field(name, each)
      return [name, isRequired(name) ? values : seldom(values)]
    })
    const own = fc.record(Object.fromEntries(fields) as Record<string, fc.Arbitrary<unknown>>)
    const isOpen = typeof additionalProperties === 'object' && additionalProperties !== null
    if (!isOpen) return own
    const more = fc.dictionary(fc.constantFrom('plan', 'team', 'Bad Name'), this.of(additionalProperties as Schema), {
      maxKeys: 3,
    })
    return fc.tuple(own, more).map(([a, b]) => ({ ...(a as object), ...b }))
  }

  /** The items of a batch are checked alone, so their schema stands elsewhere. */
  #submission(): fc.Arbitrary<unknown> {
    return fc.record({ task: names, input: fc.jsonValue({ maxDepth: 1 }) })
  }
}

interface Drawn {
  readonly name: string
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | undefined
}

/** Replaces a part of a text. */
const damages = fc.oneof(
  { weight: 8, arbitrary: fc.constant(null) },
  { weight: 1, arbitrary: fc.record({ at: fc.nat(), drop: fc.nat({ max: 3 }), add: fc.string({ maxLength: 3 }) }) },
)

/** Returns the requests of each operation. */
function requestsOf(document: z.output<typeof documentSchema>): readonly fc.Arbitrary<Drawn>[] {
  const values = new Values(document.components.schemas)
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { operationId, parameters, requestBody }]) => {
      const drawn = parameters.map(({ name, in: place, required, schema }) =>
        (place === 'path' ? names : required ? values.field(name, schema) : seldom(values.field(name, schema))).map(
          (value) => ({ name, place, value }),
        ),
      )
      const [type, content] = Object.entries(requestBody?.content ?? {})[0] ?? []
      const body =
        content === undefined
          ? fc.constant(undefined)
          : values.of(content.schema).map((value) => bodyText(type ?? '', value))
      return fc.tuple(fc.tuple(...drawn), body, damages).map(([given, text, damage]): Drawn => {
        const inPath = new Map(
          given.flatMap(({ name, place, value }) => (place === 'path' ? [[name, String(value)]] : [])),
        )
        const query = given.filter(({ place, value }) => place === 'query' && value !== undefined)
        const search = new URLSearchParams(
          Object.fromEntries(query.map(({ name, value }) => [name, String(value)])),
        ).toString()
        return {
          name: operationId,
          method: method.toUpperCase(),
          path:
            path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(inPath.get(name) ?? '')) +
            (search === '' ? '' : `?${search}`),
          headers: type === undefined ? {} : { 'content-type': type },
          body: text === undefined || damage === null ? text : damaged(text, damage),
        }
      })
    }),
  )
}

function bodyText(type: string, value: unknown): string {
  if (type === 'application/json') return JSON.stringify(value)
  const fields = Object.entries(value as Record<string, unknown>).map(([name, field]) => [name, String(field)])
  return new URLSearchParams(fields as [string, string][]).toString()
}

function damaged(text: string, { at, drop, add }: { at: number; drop: number; add: string }): string {
  const place = at % (text.length + 1)
  return text.slice(0, place) + add + text.slice(place + drop)
}

test('every route answers random requests in time, as the document says, and never fails', async () => {
  const found = await served({ fabric: { keys: KeyRing.begin(Date.now()) } })
  await found.ok('submitExecution', { body: { task: 'a', id: 'a', tags: { plan: 'pro' } } })
  await found.ok('submitExecution', { body: { task: 'a', id: 'b' } })
  await found.fabric.createFlow('sum', { id: 'sum' })
  const requests = requestsOf(documentSchema.parse(await found.ok('getOpenApi')))
  const seen = new Set<string>()
  const check = async ({ name, method, path, headers, body }: Drawn) => {
    const signal = AbortSignal.timeout(LIMIT_MS)
    const response = await fetch(found.url + path, { method, headers, signal, ...(body === undefined ? {} : { body }) })
    seen.add(name)
    if (response.headers.get('content-type') === 'text/event-stream') {
      await response.body?.cancel()
      return
    }
    const answered = await read(response)
    expect(answered.status).not.toBe(500)
    checkAnswer(routeOf(name), answered)
  }
  for (const each of requests) {
    await fc.assert(fc.asyncProperty(each, check), { seed: 1, numRuns: FIRST_RUNS })
  }
  await holdsForAny<[Drawn]>([fc.oneof(...requests)], check, { same: 50, newForMs: 1_000 })

  expect(await found.ok('getHealth')).toEqual({ status: 'ok' })
  expect([...seen].toSorted()).toEqual(api.map(({ name }) => name).toSorted())
})
