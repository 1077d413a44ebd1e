/**
 * Hints within one process, derived from the calls that its batcher is about to send. A worker learns of ready work, and a
 * waiter of an end, before the store has answered: so the claim, or the read, travels in the same batch. A hint may be wrong,
 * so its listener reads the store to know.
 */
import { readyIndex } from '../kernel/index.ts'
import type { CreateInput, ExecutionId, OperationName } from '../kernel/index.ts'
import type { Call, Partition } from './store.ts'

/** Called with a ready index that is about to gain an execution. Must not throw. */
export type ReadyListener = (partition: Partition, readyIndex: string) => void

/** Called with an execution that is about to end. Must not throw. */
export type EndListener = (partition: Partition, executionId: ExecutionId) => void

export interface Hints {
  /** Ready indexes that gain entries if the call succeeds. */
  readonly ready: Iterable<string>
  /** The execution that ends if the call succeeds. */
  readonly ended?: ExecutionId | undefined
}

type AnyCall = { readonly [N in OperationName]: Call<N> }[OperationName]

const NOTHING_READY: readonly string[] = []
const NO_HINTS: Hints = { ready: NOTHING_READY }

/**
 * Derives hints from a call alone. A failure may be retried and a flow that is being built may be on hold, so neither gives
 * a hint.
 */
export function hintsOf(call: Call): Hints {
  const { operation, input } = call as AnyCall
  switch (operation) {
    case 'createExecution':
      return { ready: isReadyAtOnce(input) ? [readyIndexOf(input)] : NOTHING_READY }
    case 'submitFlow': {
      const { nodes, edges, nodeCount, edgeCount } = input
      // A graph that is sent in pieces is on hold until the last one.
      if (nodes.length < nodeCount || edges.length < edgeCount) return NO_HINTS
      const blocked = new Set<string>(edges.map(({ downstreamId }) => downstreamId))
      const roots = nodes.map(({ create }) => create).filter(({ executionId }) => !blocked.has(executionId))
      return { ready: new Set(roots.filter(isReadyAtOnce).map(readyIndexOf)) }
    }
    case 'addExecutionToFlow': {
      const { create, after, holder } = input
      if (create === undefined || holder === undefined || after.length > 0) return NO_HINTS
      return isReadyAtOnce(create) ? { ready: [readyIndexOf(create)] } : NO_HINTS
    }
    case 'completeExecution':
      return { ready: NOTHING_READY, ended: input.executionId }
    default:
      return NO_HINTS
  }
}

function isReadyAtOnce({ delayMs = 0 }: CreateInput): boolean {
  return delayMs <= 0
}

function readyIndexOf({ lane, class: className }: CreateInput): string {
  return readyIndex(lane, className)
}

export class InProcessHints {
  readonly #readyListeners = new Set<ReadyListener>()
  readonly #endListeners = new Set<EndListener>()

  onReady(listener: ReadyListener): () => void {
    this.#readyListeners.add(listener)
    return () => this.#readyListeners.delete(listener)
  }

  onEnd(listener: EndListener): () => void {
    this.#endListeners.add(listener)
    return () => this.#endListeners.delete(listener)
  }

  /** Notifies the listeners that a call concerns. Runs in the turn in which the call was made. */
  emit(partition: Partition, call: Call): void {
    if (this.#readyListeners.size === 0 && this.#endListeners.size === 0) return
    const { ready, ended } = hintsOf(call)
    for (const index of ready) for (const listener of this.#readyListeners) listener(partition, index)
    if (ended !== undefined) for (const listener of this.#endListeners) listener(partition, ended)
  }
}
