/** Conditions as a tree that reads as what it means; the kernel takes them flat. */
import type { ConditionNode, CountBy } from '../../src/kernel/index.ts'

export interface Asked {
  readonly node: Omit<ConditionNode, 'parent'>
  readonly children: readonly Asked[]
}

interface LeafChanges {
  readonly name?: string
  readonly from?: readonly string[]
  readonly by?: CountBy
  readonly isExclusive?: boolean
}

const blank = { need: 1, by: 'once', name: undefined, from: [] as string[], targets: [] as string[] } as const

/** One signal, sent to one place: of one name, or of any. */
export function one(target: string, name?: string): Asked {
  return { node: { ...blank, kind: 'leaf', name, from: [], targets: [target] }, children: [] }
}

/** So many signals at any of some places. */
export function count(
  need: number,
  targets: readonly string[],
  { name, from = [], by = 'signals', isExclusive }: LeafChanges = {},
): Asked {
  const node: Asked['node'] = { kind: 'leaf', need, by, name, from: [...from], targets: [...targets], isExclusive }
  return { node, children: [] }
}

export function atLeast(need: number, children: readonly Asked[]): Asked {
  return { node: { ...blank, kind: 'group', need, from: [], targets: [] }, children }
}

export function every(...children: readonly Asked[]): Asked {
  return atLeast(children.length, children)
}

export function either(...children: readonly Asked[]): Asked {
  return atLeast(1, children)
}

/** What no signal can do, whatever its name. */
export function only(kind: 'operator' | 'timeout'): Asked {
  return { node: { ...blank, kind, from: [], targets: [] }, children: [] }
}

/** Every node behind its parent. */
export function nodesOf(asked: Asked): ConditionNode[] {
  const nodes: ConditionNode[] = []
  const add = ({ node, children }: Asked, parent: number | undefined): void => {
    const own = nodes.push({ ...node, parent }) - 1
    for (const child of children) add(child, own)
  }
  add(asked, undefined)
  return nodes
}
