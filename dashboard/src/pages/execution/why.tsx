/** Why it is not running, or what it does: in words, with links to what it waits for. */
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { call } from '../../api/call.ts'
import type { ExecutionSummary, Explanation } from '../../api/types.ts'
import { State } from '../../parts/state.tsx'
import { Text } from '../../parts/text.tsx'
import { Failed } from '../../parts/views.tsx'
import { whyWords } from '../../parts/why-words.ts'

export function Why({ execution }: { readonly execution: ExecutionSummary }) {
  const { id, state, changedAt } = execution
  const query = useQuery({
    // What it waits for may change while its own record does not.
    queryKey: ['why', id, state, changedAt],
    queryFn: ({ signal }) => call('explainExecution', { params: { id }, signal }),
    placeholderData: (before) => before,
    refetchInterval: execution.outcome === undefined ? 5_000 : false,
  })
  if (query.data === undefined) return query.error === null ? null : <Failed error={query.error} />
  return (
    <section className="why" data-state={state} aria-label="Why">
      <p>
        <Text>{whyWords(query.data.text)}</Text>
      </p>
      <Places execution={execution} explanation={query.data.explanation} />
    </section>
  )
}

interface Awaited {
  readonly executionId: string
  readonly name: string
  readonly state: string
}

function Places({
  execution,
  explanation,
}: {
  readonly execution: ExecutionSummary
  readonly explanation: Explanation['explanation']
}) {
  const { why } = explanation
  const waitsFor = (explanation as { readonly waitsFor?: readonly Awaited[] }).waitsFor ?? []
  return (
    <ul className="why-links">
      {waitsFor.map((each) => (
        <li key={each.executionId}>
          <Link to="/executions/$id" params={{ id: each.executionId }}>
            <Text>{each.name === '' ? each.executionId : each.name}</Text>
          </Link>{' '}
          <State state={each.state} />
        </li>
      ))}
      {why === 'waits_for_worker' && (
        <>
          <li>
            <Link to="/lanes">
              Lane <Text>{execution.lane}</Text>
            </Link>
          </li>
          <li>
            <Link to="/workers">Workers</Link>
          </li>
        </>
      )}
      {why === 'suspended' && (
        <li>
          <Link to="/executions/$id" params={{ id: execution.id }} search={{ tab: 'waits' }}>
            Its waitpoints
          </Link>
        </li>
      )}
    </ul>
  )
}
