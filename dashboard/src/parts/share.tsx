import { stateWord } from './state.tsx'

/** How a number of executions is divided among states, as a bar and in words. */
export function Share({ counts }: { readonly counts: Readonly<Record<string, number>> }) {
  const parts = Object.entries(counts).filter(([, count]) => count > 0)
  const total = parts.reduce((sum, [, count]) => sum + count, 0)
  const text = parts.map(([state, count]) => `${count.toLocaleString('en')} ${stateWord(state)}`).join(', ')
  return (
    <div className="share-of">
      <div className="share" role="img" aria-label={text === '' ? 'none' : text}>
        {parts.map(([state, count]) => (
          <span key={state} data-state={state} style={{ width: `${(100 * count) / total}%` }} />
        ))}
      </div>
      <span className="muted small">{text === '' ? 'none' : text}</span>
    </div>
  )
}
