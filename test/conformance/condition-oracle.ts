/**
 * A second definition of what a condition means, independent of the kernel: over all signals at once, from the root
 * down, with nothing counted on the way. Whether it is met depends on nothing but which signals there are.
 */
import type { ConditionNode, SignalFacts } from '../../src/kernel/index.ts'

/** A signal that was put to a condition. */
export interface AskedSignal extends SignalFacts {
  readonly sequence: number
}

export function meets(nodes: readonly ConditionNode[], signals: readonly AskedSignal[], node = 0): boolean {
  const asked = nodes[node]
  if (asked === undefined) return false
  switch (asked.kind) {
    case 'operator':
    case 'timeout':
      return false
    case 'leaf':
      return distinct(asked, signals).size >= asked.need
    case 'group': {
      const children = nodes.flatMap(({ parent }, child) => (parent === node ? [child] : []))
      return children.filter((child) => meets(nodes, signals, child)).length >= asked.need
    }
  }
}

/** What a leaf counts, each once. One person is one sender, whatever the channel; the engine is a sender of its own. */
function distinct(leaf: ConditionNode, signals: readonly AskedSignal[]): Set<string> {
  return new Set(signals.filter((signal) => wants(leaf, signal)).map((signal) => standsFor(leaf, signal)))
}

function standsFor(leaf: ConditionNode, { sequence, source, target }: AskedSignal): string {
  switch (leaf.by) {
    case 'once':
      return 'any'
    case 'signals':
      return String(sequence)
    case 'sources':
      return JSON.stringify([source.type === 'engine', source.identity])
    case 'waitpoints':
      return target
  }
}

function wants({ targets, name, from }: ConditionNode, signal: AskedSignal): boolean {
  const isNamed = name === undefined || name === signal.name
  return targets.includes(signal.target) && isNamed && (from.length === 0 || from.includes(signal.source.identity))
}

/** What one more signal does to a condition that was put these before. A leaf that has enough takes no more. */
export function effectOf(
  nodes: readonly ConditionNode[],
  before: readonly AskedSignal[],
  signal: AskedSignal,
): 'resumed' | 'counted' | 'counted_before' | 'not_awaited' {
  const asking = nodes.filter((node) => node.kind === 'leaf' && wants(node, signal))
  if (asking.length === 0) return 'not_awaited'
  const adds = asking.some((leaf) => {
    const had = distinct(leaf, before)
    return had.size < leaf.need && !had.has(standsFor(leaf, signal))
  })
  if (!adds) return 'counted_before'
  return meets(nodes, [...before, signal]) ? 'resumed' : 'counted'
}
