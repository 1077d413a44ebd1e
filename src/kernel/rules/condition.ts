/**
 * The condition of a wait: a flat tree of groups and leaves, with the count of each node. Counting a signal touches its
 * leaves and the groups above them. Counts only grow, and the order of signals does not affect whether the condition is
 * met.
 */
import type { ConditionNode, CountedNode, SignalEffect, SignalSource } from '../model/journal-schema.ts'
import { joinName } from '../model/names.ts'

/** The fields of a signal that a condition reads. */
export interface SignalFacts {
  readonly target: string
  readonly name: string
  readonly source: SignalSource
}

export function beginCounting(nodes: readonly ConditionNode[]): CountedNode[] {
  const counted: CountedNode[] = []
  for (const node of nodes) {
    counted.push({
      kind: node.kind,
      parent: node.parent,
      need: node.need,
      by: node.by,
      name: node.name,
      from: node.from,
      targets: node.targets,
      has: 0,
      seen: [],
      isExclusive: node.isExclusive,
    })
  }
  return counted
}

/** Returns every target of a condition once, in the order of the nodes. */
export function targetsOf(nodes: readonly ConditionNode[]): string[] {
  const targets: string[] = []
  for (const node of nodes) for (const target of node.targets) if (!targets.includes(target)) targets.push(target)
  return targets
}

/** Returns the identities whose signals count, at one target if it is given. Empty: those of anyone. */
export function sendersOf(nodes: readonly ConditionNode[], target?: string): string[] {
  const senders: string[] = []
  for (const { kind, from, targets } of nodes) {
    if (kind !== 'leaf' || (target !== undefined && !targets.includes(target))) continue
    if (from.length === 0) return []
    for (const sender of from) if (!senders.includes(sender)) senders.push(sender)
  }
  return senders
}

export function isMet(nodes: readonly CountedNode[]): boolean {
  const root = nodes[0]
  return root !== undefined && isNodeMet(root)
}

function isNodeMet(node: CountedNode): boolean {
  return (node.kind === 'group' || node.kind === 'leaf') && node.has >= node.need
}

/** Counts a signal that was sent to one of the condition's targets. Returns its effect. */
export function countSignal(nodes: readonly CountedNode[], signal: SignalFacts): Exclude<SignalEffect, 'buffered'> {
  let isAwaited = false
  let isNew = false
  for (const node of nodes) {
    if (node.kind !== 'leaf' || !accepts(node, signal)) continue
    isAwaited = true
    if (isNodeMet(node) || isTaken(nodes, node, signal) || !addsTo(node, signal)) continue
    isNew = true
    node.has = node.has + 1
    if (isNodeMet(node)) countInParents(nodes, node)
  }
  if (!isAwaited) return 'not_awaited'
  if (!isNew) return 'counted_before'
  return isMet(nodes) ? 'resumed' : 'counted'
}

function accepts(leaf: CountedNode, signal: SignalFacts): boolean {
  if (!leaf.targets.includes(signal.target)) return false
  if (leaf.name !== undefined && leaf.name !== signal.name) return false
  return leaf.from.length === 0 || leaf.from.includes(signal.source.identity)
}

/** Whether another exclusive leaf of the group has counted the sender: one person cannot approve and reject. */
function isTaken(nodes: readonly CountedNode[], leaf: CountedNode, signal: SignalFacts): boolean {
  if (leaf.isExclusive !== true) return false
  const sender = senderOf(signal.source)
  for (const node of nodes) {
    if (node !== leaf && node.parent === leaf.parent && node.isExclusive === true && node.seen.includes(sender)) {
      return true
    }
  }
  return false
}

/** Whether a signal counts for a leaf that needs more. Records the distinguishing value. */
function addsTo(leaf: CountedNode, signal: SignalFacts): boolean {
  if (leaf.by === 'once' || leaf.by === 'signals') return true
  const value = leaf.by === 'sources' ? senderOf(signal.source) : signal.target
  if (leaf.seen.includes(value)) return false
  leaf.seen.push(value)
  return true
}

/** A person is one sender, by a signed link or through a program. Signals of the engine have no sender. */
function senderOf({ type, identity }: SignalSource): string {
  return joinName(type === 'engine' ? type : 'sender', identity)
}

function countInParents(nodes: readonly CountedNode[], from: CountedNode): void {
  let node: CountedNode = from
  while (node.parent !== undefined) {
    const parent: CountedNode | undefined = nodes[node.parent]
    if (parent === undefined) return
    const wasMet = isNodeMet(parent)
    parent.has = parent.has + 1
    if (wasMet || !isNodeMet(parent)) return
    node = parent
  }
}
