/** The outcome of an upstream, as a node gets it that runs whatever the outcome. */
import { CONDITION_NOT_MET, DEPENDENCY_IMPOSSIBLE, UPSTREAM_CONDITION_NOT_MET } from '../../kernel/rules/flow-state.ts'
import type { UpstreamEnd } from '../../kernel/lifecycle/flows/upstream-results.ts'

/** How an upstream ended. `code` is the category of its failure, `cancelled`, or the reason of a skip. */
export type UpstreamOutcome<Result = unknown> =
  | { readonly outcome: 'completed'; readonly value: Result }
  | {
      readonly outcome: 'failed' | 'cancelled' | 'expired' | 'skipped'
      readonly error: { readonly code: string; readonly message: string }
    }

/** The texts of codes that come without a message. */
const TEXTS: Readonly<Record<string, string>> = {
  [CONDITION_NOT_MET]: 'Its condition was not met.',
  [UPSTREAM_CONDITION_NOT_MET]: 'A condition before it was not met.',
  [DEPENDENCY_IMPOSSIBLE]: 'Its dependencies could not be met.',
  replayed: 'It is being replayed.',
}

/** Returns the input of a node: the outcome of the upstream, or its result alone. */
export function inputValue(end: UpstreamEnd | undefined, result: () => unknown): unknown {
  if (end === undefined) return result()
  const { outcome, error } = end
  if (outcome === 'completed' || error === undefined) {
    return { outcome: 'completed', value: result() } satisfies UpstreamOutcome
  }
  const message = error.message ?? TEXTS[error.code] ?? error.code
  return { outcome, error: { code: error.code, message } } satisfies UpstreamOutcome
}
