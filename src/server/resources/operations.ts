/** The operation port: what `createFabric` of another process uses with the address of this server as its location. */
import { z } from 'zod'
import { EngineError } from '../../kernel/engine-error.ts'
import {
  pack,
  PORT_BODY_BYTES,
  PORT_PATH,
  PORT_TYPE,
  PORT_VERSION,
  unpack,
  WAKES_PATH,
} from '../../stores/remote/wire.ts'
import type { ErrorCode } from '../../kernel/errors.ts'
import type { WireAnswer } from '../../stores/remote/wire.ts'
import { statusOf } from '../http/problem.ts'
import { callsIn, isAct } from '../operations/port.ts'
import type { PortCall } from '../operations/port.ts'
import { wakeMessages } from '../operations/wake-source.ts'
import { events, json, route } from '../routes/route.ts'
import type { RouteCall } from '../routes/route.ts'

const port = { tag: 'system', access: 'viewer', scope: 'namespace' } as const

/** Fields that name what an operation concerns. */
const TARGETS = [
  'executionId',
  'flowId',
  'scheduleId',
  'consumerId',
  'workerInstanceId',
  'lane',
  'name',
  'root',
  'key',
  'target',
]

const settings = z.object({
  executionPartitions: z.int(),
  limitPartitions: z.int(),
  indexedTags: z.array(z.string()),
})

const store = z.object({
  kind: z.string(),
  version: z.string(),
  location: z.string(),
  durability: z.string(),
  warnings: z.array(z.string()),
})

export const operationRoutes = [
  route({
    ...port,
    name: 'describePort',
    method: 'GET',
    path: PORT_PATH,
    summary: 'What a remote client has to know before it sends operations',
    answers: {
      200: json(
        z.object({
          versions: z.array(z.int()).describe('The versions of the port that the server speaks.'),
          settings,
          level: z.int().describe('The level of the store.'),
          namespace: z.string().optional().describe('The only namespace that the credential reaches.'),
          store,
        }),
        'The settings of the store.',
      ),
    },
    handle: async (call) => {
      refuseWithheld(call)
      const { fabric } = call.server
      const { kind, version, durability, warnings } = await fabric.report()
      const { executionPartitions, limitPartitions, indexedTags } = fabric.store.settings
      return {
        status: 200,
        body: {
          versions: [PORT_VERSION],
          settings: { executionPartitions, limitPartitions, indexedTags: [...indexedTags] },
          level: fabric.store.level,
          namespace: namespaceOf(call),
          // Where the store is, only the server has to know.
          store: { kind: `${kind} over HTTP`, version, location: '', durability, warnings },
        },
      }
    },
  }),
  route({
    ...port,
    name: 'runOperations',
    method: 'POST',
    path: PORT_PATH,
    summary: 'Run operations for a remote client of FlowFabric',
    description:
      'For `createFabric` with the address of the server. Programs in other languages use the other routes. The form may change with each version.',
    bodyKind: 'operations',
    bodyBytes: PORT_BODY_BYTES,
    answers: { 200: { text: PORT_TYPE, description: 'One answer for each operation, in order.' } },
    handle: async (call) => {
      refuseWithheld(call)
      const { head, blobs } = unpack(call.body as unknown as Uint8Array)
      const { server, principal } = call
      const calls = callsIn(head, blobs)
      const answers = await server.port.run(calls, { ...principal, namespace: namespaceOf(call) })
      await recordActs(
        call,
        calls,
        answers.map(({ answer }) => answer),
      )
      const reply = { level: server.fabric.store.level, answers: answers.map(({ answer }) => answer) }
      const body = pack(
        reply,
        answers.flatMap((each) => each.blobs),
      )
      return new Response(body as Uint8Array<ArrayBuffer>, { headers: { 'content-type': PORT_TYPE } })
    },
  }),
  route({
    ...port,
    name: 'followWakes',
    method: 'GET',
    path: WAKES_PATH,
    summary: 'Follow the wake-ups of the store, for a remote client of FlowFabric',
    query: z.strictObject({ events: z.boolean().optional().describe('Whether the client follows logs of events.') }),
    errors: ['server_busy'],
    answers: { 200: events(z.object({ wakes: z.array(z.looseObject({})) }), 'Hints that something has changed.') },
    handle: (call) => {
      refuseWithheld(call)
      const { server, signal, requestId, query } = call
      const scope = { namespace: namespaceOf(call), withEvents: query.events === true }
      return server.streams.start((ended) => wakeMessages(server.fabric.store, scope, ended), { signal, requestId })
    },
  }),
]

/** The only namespace that a caller reaches: that of its credential, or of a server for one namespace. */
function namespaceOf({ client }: Pick<RouteCall, 'client'>): string | undefined {
  return client.isBound ? client.namespace : undefined
}

/** Operators act through the port as they do through other routes, so it is recorded alike. */
async function recordActs(call: RouteCall, calls: readonly PortCall[], answers: readonly WireAnswer[]): Promise<void> {
  const { server, principal, requestId, address } = call
  // Recorded together, so that the store takes them in one batch.
  const recorded: Promise<void>[] = []
  for (const [i, { operation, input }] of calls.entries()) {
    const answer = answers[i]
    if (answer === undefined || !isAct(operation, input)) continue
    const { by, reason } = input as { readonly by?: unknown; readonly reason?: unknown }
    const code = codeOf(answer)
    server.log.info(
      { requestId, action: operation, by: principal.name, code },
      'an operator changed something over HTTP',
    )
    const entry = {
      at: server.runtime.now(),
      requestId,
      credential: principal.name,
      role: principal.role,
      by: typeof by === 'string' ? by : undefined,
      namespace: namespaceOf(call),
      address,
      action: operation,
      target: targetOf(input),
      reason: typeof reason === 'string' ? reason : undefined,
      status: code === undefined ? 200 : statusOf(code),
      code,
    }
    recorded.push(server.trail.record(entry))
  }
  await Promise.all(recorded)
}

function codeOf({ error, ...answer }: WireAnswer): ErrorCode | undefined {
  const { code } = error ?? (('result' in answer ? answer.result : {}) as { readonly code?: unknown })
  return typeof code === 'string' ? (code as ErrorCode) : undefined
}

function targetOf(input: object): Readonly<Record<string, string>> {
  const named = Object.entries(input).filter(([name, value]) => TARGETS.includes(name) && typeof value === 'string')
  return Object.fromEntries(named)
}

/** The answers of operations have values, which such a server withholds from viewers. */
function refuseWithheld({ seesValues, principal }: Pick<RouteCall, 'seesValues' | 'principal'>): void {
  if (seesValues) return
  const message = `The server withholds values from viewers, and '${principal.name}' has the role ${principal.role}: use the other routes.`
  throw new EngineError('forbidden', { message })
}
