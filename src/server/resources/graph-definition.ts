/** The definition of a flow whose graph is JSON. */
import { flow, task } from '../../client/index.ts'
import type { AnyFlow, BudgetUse, Client, Upstream } from '../../client/index.ts'
import { drop } from '../schemas/drop.ts'
import { upstreamsOf } from '../schemas/flow-graph.ts'
import type { GraphMember, GraphNode } from '../schemas/flow-graph.ts'
import { limitUsesOf, shareOf } from '../schemas/submission-parts.ts'
import { valueOf } from '../schemas/value.ts'

/** Each node follows those that it waits for. */
export async function flowOfGraph(client: Client, name: string, nodes: readonly GraphNode[]): Promise<AnyFlow> {
  const details = await Promise.all(nodes.map((node) => detailOf(client, node)))
  return flow(name, (f) => {
    const made = new Map<string, Upstream>()
    nodes.forEach((node, i) => {
      const after = upstreamsOf(node, (upstream) => made.get(upstream))
      const detail = {
        ...details[i],
        ...(after === undefined ? {} : { after }),
        ...drop({ inputs: node.inputs }),
        ...(node.isConditional === true && { when: decidedByWorker }),
      }
      made.set(node.name, f.node(node.name, taskOf(node), detail))
    })
  })
}

/** The condition of a node whose flow is no program. Only that there is one is stored. */
function decidedByWorker(): never {
  throw new Error('a worker over HTTP evaluates this condition')
}

export function taskOf({ task: name, version, fairness }: GraphMember) {
  return task(name, drop({ version, fairness: shareOf(fairness) }))
}

export async function detailOf(client: Client, node: GraphMember) {
  const { input, inputBytes, lane, priority, retry, timeout, needs, delay, tags, limits, budgets } = node
  return {
    ...drop({ lane, priority, retry, timeout, needs, delay, tags }),
    input: valueOf('input', input, inputBytes),
    limits: limitUsesOf(limits) ?? [],
    budgets: await budgetUsesOf(client, budgets),
  }
}

interface NamedUse {
  readonly budget: string
  readonly key?: string | undefined
}

export async function budgetUsesOf(
  client: Client,
  budgets: readonly NamedUse[] = [],
): Promise<readonly BudgetUse<unknown>[]> {
  return await client.budgets.usesByName(budgets.map((use) => drop(use)))
}
