/** Results with a long poll. */
import { z } from 'zod'
import { EngineError } from '../../kernel/engine-error.ts'
import type { Duration, ExecutionDescription, FlowDescription } from '../../client/index.ts'
import { boundedWait } from '../live/bounded-wait.ts'
import { waitAtMost } from '../live/long-poll.ts'
import { json, route } from '../routes/route.ts'
import type { RouteCall } from '../routes/route.ts'
import { duration } from '../schemas/common.ts'
import { executionResult, unended } from '../schemas/execution.ts'
import { flowResult } from '../schemas/flow.ts'
import { splitValues, valueFields, withheld } from '../schemas/value.ts'

const query = z.strictObject({
  wait: duration
    .optional()
    .describe('How long to wait for the end at most; not at all unless given, and at most 60 s.'),
})

export const resultRoutes = [
  route({
    name: 'getResult',
    method: 'GET',
    path: '/v1/executions/{id}/result',
    tag: 'executions',
    summary: 'Return the result of an execution, and wait for it if asked to',
    access: 'viewer',
    scope: 'namespace',
    isReadable: true,
    query,
    errors: ['execution_not_found', 'result_expired'],
    answers: {
      200: json(executionResult, 'It has ended, with any outcome.'),
      202: json(unended, 'It has not ended yet. Ask again.'),
    },
    handle: async (call) => {
      const { client, params, seesValues } = call
      const ended = await endOf(call, (signal) => client.execution(params.id).wait({ signal }))
      const description = ended ?? (await client.describe(params.id, { result: true }))
      const { id, state, outcome, failure, reason, result, removed } = description
      if (outcome === undefined) return { status: 202, body: { id, state } }
      if (removed?.hadResult === true) throw new EngineError('result_expired', { executionId: id })
      const values = seesValues ? valueFields('result', result) : withheld(seesValues)
      return { status: 200, body: { id, state, outcome, failure, reason, ...values } }
    },
  }),
  route({
    name: 'getFlowResult',
    method: 'GET',
    path: '/v1/flows/{id}/result',
    tag: 'flows',
    summary: 'Return the results of a flow, and wait for them if asked to',
    description: 'The results are those of the nodes that no other node waits for, by name.',
    access: 'viewer',
    scope: 'namespace',
    query,
    errors: ['flow_not_found', 'result_expired'],
    answers: {
      200: json(flowResult, 'It has ended, with any outcome.'),
      202: json(unended, 'It has not ended yet. Ask again.'),
    },
    handle: async (call) => {
      const { client, params } = call
      const ended = await endOf(call, (signal) => client.flow(params.id).wait({ signal }))
      const description = ended ?? (await client.describeFlow(params.id))
      if (description.outcome === undefined) {
        return { status: 202, body: { id: description.id, state: description.state } }
      }
      return { status: 200, body: await flowOutcome(call, description) }
    },
  }),
]

/** Waits as long as the query says. Returns undefined if the end has not come until then. */
async function endOf<End extends ExecutionDescription | FlowDescription>(
  { query: { wait = 0 }, server, signal }: RouteCall<string, { readonly wait?: Duration | undefined }>,
  watch: (signal: AbortSignal) => Promise<End>,
): Promise<End | undefined> {
  return await waitAtMost(server.runtime, boundedWait(wait, server.limits.waitMs), signal, watch)
}

async function flowOutcome({ client, signal, seesValues }: RouteCall, description: FlowDescription) {
  const { id, state, outcome = 'failed' } = description
  if (outcome !== 'completed') return { id, state, outcome, reason: description.cancel?.reason }
  if (!seesValues) return { id, state, outcome, ...withheld(seesValues) }
  const { json: results, bytes: resultBytes } = splitValues(await client.flow(id).result({ signal }))
  return { id, state, outcome, results, resultBytes }
}
