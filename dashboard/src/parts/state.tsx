/** The states of executions and flows. A word is always shown beside the colour. */
const WORDS: Readonly<Record<string, string>> = {
  waiting_dependencies: 'waits for others',
  rate_limited: 'rate limited',
}

export function stateWord(state: string): string {
  return WORDS[state] ?? state.replaceAll('_', ' ')
}

export function State({ state }: { readonly state: string }) {
  return (
    <span className="state" data-state={state}>
      <span className="state-dot" aria-hidden="true" />
      {stateWord(state)}
    </span>
  )
}
