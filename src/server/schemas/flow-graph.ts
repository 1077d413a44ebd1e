/** Graphs as JSON: the nodes of a flow, what each waits for, and what it gets from there. */
import { z } from 'zod'
import { allOf, anyOf, ended, quorum, upstream } from '../../client/index.ts'
import type { Upstream, Upstreams } from '../../client/index.ts'
import { FOLLOW_UP_NODE_MAX, IN_DEGREE_MAX, NAME_BYTES } from '../../kernel/limits.ts'
import { invalidInput } from '../../options/invalid-input.ts'
import { duration, key, tags } from './common.ts'
import { drop } from './drop.ts'
import { leaseField } from './lease.ts'
import { budgetUse, workFields } from './submission-parts.ts'

/** Nodes of one request. */
const NODES_MAX = 2_000

export const nodeName = z.string().min(1).max(NAME_BYTES)

const onFailure = z
  .enum(['fail', 'continue', 'ignore'])
  .optional()
  .describe(
    'What happens to this node if the other one does not complete. Unless it is `fail`, the input is an outcome.',
  )

const after = z
  .strictObject({
    nodes: z
      .array(
        z.union([
          nodeName,
          z.strictObject({ node: nodeName, as: nodeName.optional().describe('The name of the input.'), onFailure }),
        ]),
      )
      .min(1)
      .max(IN_DEGREE_MAX),
    policy: z
      .enum(['all_of', 'any_of', 'quorum', 'ended'])
      .optional()
      .describe('`all_of` unless given: all must complete. `ended` waits for all ends, whatever the outcomes.'),
    need: z.int().min(1).optional().describe('How many of a quorum must complete.'),
    losers: z
      .enum(['cancel', 'let_run'])
      .optional()
      .describe('What happens to those of `any_of` and `quorum` that are not needed; `cancel` unless given.'),
  })
  .describe('The nodes that this one waits for. They precede it in the list.')

const { retention: _ofFlow, ...nodeFields } = workFields

const nodeParts = {
  name: nodeName,
  ...nodeFields,
  delay: duration.optional(),
  after: after.optional(),
  inputs: z.boolean().optional().describe('False waits without passing results on.'),
}

/** A member that is added to a flow. */
export const graphMember = z.strictObject(nodeParts).meta({ id: 'GraphMember' })

/** A member that a running member of the flow adds. */
export const addedMember = z
  .strictObject({
    lease: leaseField,
    ...nodeParts,
    awaited: z.boolean().optional().describe('False adds it without waiting for it.'),
    as: nodeName.nullish().describe('The name of its result in `inputs`: its own unless given, none if null.'),
  })
  .meta({ id: 'AddedMember' })

/** An existing member that a running member of the flow depends on. */
export const dependedMember = z
  .strictObject({
    lease: leaseField,
    member: nodeName.describe('The name of the member, or its id.'),
    as: nodeName
      .nullish()
      .describe('The name of its result in `inputs`: its own unless given, none if null. An id alone has no name.'),
    onFailure,
  })
  .meta({ id: 'DependedMember' })

export const graphNode = z
  .strictObject({
    ...nodeParts,
    isConditional: z
      .boolean()
      .optional()
      .describe('True lets the worker that claims it decide by its inputs whether it runs or is skipped.'),
  })
  .meta({ id: 'GraphNode' })

export type GraphMember = z.output<typeof graphMember>
export type GraphNode = z.output<typeof graphNode>

const outcome = z
  .enum(['all_members', 'sinks'])
  .optional()
  .describe('Which members may not fail: all unless given, or only those that no other waits for.')
const flowName = nodeName.describe('The name of the flow.')

const settings = {
  name: flowName,
  id: key.optional().describe('Your own id. Submitting the same graph twice with one id starts one flow.'),
  outcome,
  retention: duration.optional(),
  tags: tags.optional(),
}

/** The graph of a flow that a schedule starts. */
export const scheduledGraph = z
  .strictObject({
    name: flowName,
    nodes: z
      .array(graphNode)
      .min(1)
      .max(FOLLOW_UP_NODE_MAX)
      .describe('Listed so that each node follows those that it waits for.'),
    outcome,
  })
  .meta({ id: 'ScheduledGraph' })

export const flowSubmission = z
  .strictObject({
    ...settings,
    nodes: z.array(graphNode).min(1).max(NODES_MAX),
    budgets: z.array(budgetUse).optional().describe('Budgets that all members spend, and their children.'),
    ifExists: z.enum(['join', 'reject', 'replace', 'after']).optional(),
    dedupe: duration.optional().describe('How long after its end the id stays taken.'),
  })
  .meta({ id: 'FlowSubmission' })

export const openFlow = z.strictObject({
  ...settings,
  hold: z.boolean().optional().describe('True holds all members until the flow is sealed.'),
})

export const addedEdge = z.strictObject({
  upstream: nodeName,
  downstream: nodeName,
  as: nodeName.nullish().describe('The name of the input: that of the upstream unless given, none if null.'),
  payload: z.boolean().optional().describe('True passes the result as the payload.'),
  onFailure,
  expectedRevision: z.int().min(0).optional().describe('Refuses the edge if the graph has changed since.'),
})

export const groupPolicy = z.strictObject({
  policy: z.enum(['all_of', 'any_of', 'quorum', 'ended']),
  need: z.int().min(1).optional(),
  losers: z.enum(['cancel', 'let_run']).optional(),
})

/** Returns the upstreams of a node, as `allOf` and the others make them. */
export function upstreamsOf(
  { name, after: given }: GraphMember,
  find: (node: string) => Upstream | undefined,
): Upstreams | undefined {
  if (given === undefined) return undefined
  const { nodes, policy = 'all_of', need, losers } = given
  const named: Record<string, Upstream> = Object.create(null) as Record<string, Upstream>
  for (const each of nodes) {
    const { node, as = node, onFailure: tolerance } = typeof each === 'string' ? { node: each } : each
    const found = find(node)
    if (found === undefined) {
      throw invalidInput('after', `Node '${name}' waits for '${node}', which is no node before it.`)
    }
    if (as in named)
      throw invalidInput('after', `Node '${name}' has two inputs of the name '${as}': name one otherwise.`)
    named[as] = tolerance === undefined ? found : upstream(found, { onFailure: tolerance })
  }
  if ((need === undefined) === (policy === 'quorum')) {
    throw invalidInput('need', `Node '${name}' needs a number for the policy 'quorum', and for no other one.`)
  }
  if (losers !== undefined && policy !== 'any_of' && policy !== 'quorum') {
    throw invalidInput('losers', `Node '${name}' has no losers, because it waits for all.`)
  }
  switch (policy) {
    case 'all_of':
      return allOf(named)
    case 'any_of':
      return anyOf(named, drop({ losers }))
    case 'quorum':
      return quorum(need ?? 1, named, drop({ losers }))
    case 'ended':
      return ended(named)
  }
}
