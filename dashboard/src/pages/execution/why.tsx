/** Why it is not running, or what it does: in words, with links to what it waits for. */
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { call } from '../../api/call.ts'
import type { ExecutionSummary, Explanation } from '../../api/types.ts'
import { State } from '../../parts/state.tsx'
import { Text } from '../../parts/text.tsx'
import { Failed } from '../../parts/views.tsx'

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
        <Text>{readable(query.data.text)}</Text>
      </p>
      <Places execution={execution} explanation={query.data.explanation} />
    </section>
  )
}

/** Instants in the words of the server, without a precision that no person needs. */
function readable(text: string): string {
  return text.replace(/(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d)\.\d{3}Z/g, '$1 $2 UTC')
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
            <Link to="/executions" search={{ lane: execution.lane }}>
              Lane <Text>{execution.lane}</Text>
            </Link>
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
