/** Prepares what a schedule starts: the settings and the input of its task, or the graph of its flow. */
import { FOLLOW_UP_EDGE_MAX, FOLLOW_UP_NODE_MAX, PAYLOAD_BYTES } from '../../kernel/index.ts'
import type { ConfigureScheduleInput, FlowId, NodeInput } from '../../kernel/index.ts'
import { EngineError } from '../../kernel/engine-error.ts'
import { derivedUuid } from '../../runtime/index.ts'
import { checkTags } from '../checks/names.ts'
import { overrideFlowPolicy } from '../define/flow.ts'
import { parseRetry } from '../define/retry.ts'
import type { ScheduleDefinition, ScheduledStart } from '../define/schedule.ts'
import { prepareParsed } from '../executions/submit.ts'
import type { SubmitSetting } from '../executions/submit.ts'
import { declaredLimitsOf } from '../limits/declared-limits.ts'
import { drawFlow, flowBudgets } from '../flows/flow-calls.ts'
import { digestOf, prepareGraph } from '../flows/flow-graph.ts'
import type { PreparedGraph } from '../flows/flow-graph.ts'
import { numberBlobs } from '../flows/flow-submission.ts'
import type { Session } from '../session.ts'
import { mintExecutionId } from '../transport/ids.ts'
import type { SchedulePlace } from './schedule-place.ts'

export interface PreparedStart extends Pick<ConfigureScheduleInput, 'work' | 'flow'> {
  readonly blobs: readonly Uint8Array[]
  /** The names of the nodes, if it starts a flow. */
  readonly names: readonly string[] | undefined
  /** What the digest of the definition covers besides the times and the bytes. */
  readonly digested: readonly unknown[]
}

export async function prepareStart(
  session: Session,
  { starts, input }: Pick<ScheduleDefinition, 'starts' | 'input'>,
  place: SchedulePlace,
): Promise<PreparedStart> {
  const { namespace, settings: store, batcher, runtime } = session
  const setting = { namespace, indexedTags: store.indexedTags, limits: declaredLimitsOf(batcher, runtime) }
  if (starts.kind === 'flow') return await prepareFlow(session, starts, input, place, setting)
  const { task, options } = starts
  // Executions get ids of their own when they are created.
  const ids = { executionId: mintExecutionId(place.number, runtime), requestId: undefined }
  const submit = await prepareParsed({ task, input, options }, ids, setting)
  const { executionId: _id, payload, ...settings } = submit.input
  const { namespace: _namespace, trace: _trace, ...work } = settings
  return {
    work: { ...work, payload },
    flow: undefined,
    blobs: submit.blobs,
    names: undefined,
    digested: [settings, payload?.encoding],
  }
}

type FlowStart = Extract<ScheduledStart, { kind: 'flow' }>

async function prepareFlow(
  session: Session,
  { flow, settings }: FlowStart,
  given: unknown,
  { scheduleId, number }: SchedulePlace,
  setting: SubmitSetting,
): Promise<PreparedStart> {
  const policy = overrideFlowPolicy(flow.policy, settings)
  const { outcomeRule, retentionMs, tags } = policy
  const graph = await drawFlow(flow, given)
  // Each boundary gives the members ids of their own. These only tell the nodes apart.
  const flowId = `f${number}-${derivedUuid(scheduleId).uuid}` as FlowId
  const inherited = await flowBudgets(session, policy, given)
  const prepared = await prepareGraph(graph, flowId, { ...setting, inherited }, given)
  refuseTooLarge(flow.name, prepared)
  const { inputs, blobs } = numberBlobs(prepared.nodes)
  const input = prepared.input && { ...prepared.input.input, blob: blobs.length }
  if (prepared.input !== undefined) blobs.push(prepared.input.bytes)
  const checked = checkTags(tags, setting.indexedTags)
  const identity = { name: flow.name, outcomeRule }
  return {
    work: {
      task: flow.name,
      lane: '',
      class: '',
      priority: 0,
      tags: checked,
      retry: parseRetry(undefined),
      retentionMs,
    },
    flow: {
      ...identity,
      flowId,
      namespace: setting.namespace,
      tags: checked,
      retentionMs,
      nodes: inputs.map(withoutSpan),
      edges: prepared.edges,
      input,
    },
    blobs,
    names: inputs.map(({ name }) => name),
    digested: [digestOf(graph, prepared, identity, session.batcher.codec), checked, retentionMs],
  }
}

/** The span that declares a schedule is not the one that starts its flows. */
function withoutSpan(node: NodeInput): NodeInput {
  return { ...node, create: { ...node.create, trace: undefined } }
}

/** The graph and its inputs are part of the schedule, which limits their size. */
function refuseTooLarge(name: string, { nodes, edges, input }: PreparedGraph): void {
  if (nodes.length > FOLLOW_UP_NODE_MAX || edges.length > FOLLOW_UP_EDGE_MAX) {
    throw new EngineError('graph_limit_exceeded', {
      message: `A flow that a schedule starts has at most ${FOLLOW_UP_NODE_MAX} nodes and ${FOLLOW_UP_EDGE_MAX} edges, and '${name}' has ${nodes.length} and ${edges.length}. Schedule a task whose handler submits the flow.`,
    })
  }
  const bytes = nodes.reduce((sum, { payload }) => sum + (payload?.byteLength ?? 0), input?.bytes.byteLength ?? 0)
  if (bytes <= PAYLOAD_BYTES) return
  throw new EngineError('payload_too_large', {
    field: 'input',
    message: `The inputs of all nodes of a flow that a schedule starts have at most ${PAYLOAD_BYTES} bytes together, and those of '${name}' have ${bytes}. Store large data elsewhere and pass a reference.`,
  })
}
