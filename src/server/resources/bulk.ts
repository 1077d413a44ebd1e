/** Changes of many executions: counted first, started, and followed. Each change is an execution of FlowFabric. */
import { z } from 'zod'
import type { Bulk, BulkFilter, BulkOptions, BulkOutcome } from '../../fabric/index.ts'
import { bulkTask } from '../../fabric/index.ts'
import { EngineError } from '../../kernel/engine-error.ts'
import { json, route } from '../routes/route.ts'
import { bulkBody, bulkPreview, bulkState, previewBody } from '../schemas/bulk.ts'
import type { BulkFilterBody } from '../schemas/bulk.ts'
import { drop } from '../schemas/drop.ts'

export const bulkRoutes = [
  route({
    name: 'previewBulk',
    method: 'POST',
    path: '/v1/bulk/preview',
    tag: 'executions',
    summary: 'Count the executions that a bulk change would change',
    description: 'Changes nothing. Counts up to 10,000.',
    changesNothing: true,
    access: 'operator',
    scope: 'namespace',
    body: previewBody,
    errors: ['flow_not_found'],
    answers: { 200: json(bulkPreview, 'How many, and the newest ones.') },
    handle: async ({ client, server, body }) => ({
      status: 200,
      body: await server.fabric.bulkIn(client, filterOf(body.filter)).preview(),
    }),
  }),
  route({
    name: 'startBulk',
    method: 'POST',
    path: '/v1/bulk',
    tag: 'executions',
    summary: 'Change many executions',
    description:
      'The change runs as an execution of FlowFabric in this process. If the process crashes, the change continues when the namespace has its next bulk change, or when its state is asked for.',
    access: 'operator',
    scope: 'namespace',
    body: bulkBody,
    takesIdempotencyKey: true,
    errors: ['input_differs', 'payload_too_large', 'lane_draining', 'lane_disabled', 'flow_not_found'],
    answers: { 201: json(z.object({ id: z.string() }), 'The change is stored.') },
    handle: async ({ client, server, body, idempotencyKey }) => {
      const bulk = server.fabric.bulkIn(client, filterOf(body.filter))
      const id = idempotencyKey === undefined ? undefined : `bulk:${idempotencyKey}`
      const { id: changeId } = await start(bulk, body.action, drop({ perSecond: body.perSecond, id }))
      return { status: 201, body: { id: changeId } }
    },
  }),
  route({
    name: 'describeBulk',
    method: 'GET',
    path: '/v1/bulk/{id}',
    tag: 'executions',
    summary: 'Describe a bulk change: its progress, or what it has done',
    access: 'operator',
    scope: 'namespace',
    errors: ['execution_not_found'],
    answers: { 200: json(bulkState, 'The change.') },
    handle: async ({ client, params, server }) => {
      const { id, task, state, createdAt, endedAt, progress, failure, outcome, result } = await client.describe(
        params.id,
      )
      if (task !== bulkTask.name) throw new EngineError('execution_not_found', { executionId: id })
      // Another process may have left it.
      if (outcome === undefined) server.fabric.continueBulkIn(client)
      return {
        status: 200,
        body: drop({
          id,
          state,
          createdAt,
          endedAt,
          progress: progress?.message,
          failure: failure?.message,
          outcome: outcome === 'completed' ? (result as BulkOutcome) : undefined,
        }),
      }
    },
  }),
]

function filterOf({ tags, ...filter }: BulkFilterBody): BulkFilter {
  const tag = tags && Object.entries(tags).map(([name, value]) => ({ name, value }))
  return drop({ ...filter, tag })
}

function start(bulk: Bulk, action: z.output<typeof bulkBody>['action'], options: BulkOptions) {
  switch (action.kind) {
    case 'cancel':
      return bulk.cancel(action.reason, options)
    case 'replay':
      return bulk.replay(options)
    case 'delete':
      return bulk.delete(options)
    case 'priority':
      return bulk.changePriority(action.priority, options)
    case 'tags':
      return bulk.setTags(action.tags, options)
  }
}
