/** Arranges the members of a flow in levels: a member is one level below its deepest upstream. */
import type { ExecutionId, MemberView } from '../../kernel/index.ts'

export interface Graph {
  /** The members of each level, in the order of the graph. */
  readonly levels: readonly (readonly MemberView[])[]
  readonly members: ReadonlyMap<string, MemberView>
}

export function graphOf(views: readonly MemberView[]): Graph {
  const members = new Map<string, MemberView>()
  // A member that moved between two pages of a listing appears twice; its later position counts.
  for (const view of views) members.set(view.execution.id, view)
  const inOrder = [...members.values()].sort((a, b) => rankOf(a) - rankOf(b))
  const levelOf = new Map<ExecutionId, number>()
  const levels: MemberView[][] = []
  for (const view of inOrder) {
    const level = view.upstreams.reduce((deepest, { executionId }) => {
      return Math.max(deepest, (levelOf.get(executionId) ?? -1) + 1)
    }, 0)
    levelOf.set(view.execution.id, level)
    ;(levels[level] ??= []).push(view)
  }
  return { levels, members: new Map(inOrder.map((view) => [view.execution.id, view])) }
}

export function rankOf({ execution }: MemberView): number {
  return execution.member?.rank ?? 0
}

export function nameOf({ execution }: MemberView): string {
  return execution.member?.name ?? execution.id
}
