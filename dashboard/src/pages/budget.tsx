import { useQuery } from '@tanstack/react-query'
import { useNavigate, useParams, useSearch } from '@tanstack/react-router'
import type { SubmitEvent } from 'react'
import { call } from '../api/call.ts'
import { isOfBudget } from '../api/events.ts'
import { useLive } from '../api/live.ts'
import type { BudgetDescription } from '../api/types.ts'
import { textOf } from '../parts/dialog.tsx'
import { MoreButton, useMorePages } from '../parts/more-pages.tsx'
import { Text } from '../parts/text.tsx'
import { Moment } from '../parts/time.tsx'
import { Loaded, Page, Panel } from '../parts/views.tsx'
import { BudgetActions } from './budgets/actions.tsx'
import { BudgetFacts, BudgetState } from './budgets/facts.tsx'
import { Keys } from './budgets/keys.tsx'
import { Ledger } from './budgets/ledger.tsx'
import { Amounts } from './budgets/use.tsx'

/** Amounts are spent and reserved without an event. */
const POLL_MS = 3_000
const KEYS_SHOWN = 50
const LINES_READ = 50

export function BudgetPage() {
  const { name } = useParams({ from: '/budgets/$name' })
  const { key } = useSearch({ from: '/budgets/$name' })
  const query = useQuery({
    queryKey: ['budget', name, 'keys', key],
    queryFn: ({ signal }) =>
      call('describeBudget', { params: { budget: name }, query: { limit: KEYS_SHOWN, key }, signal }),
    refetchInterval: POLL_MS,
    placeholderData: (before) => before,
  })
  useLive(isOfBudget, () => void query.refetch(), 1_000)
  return <Loaded query={query}>{(budget) => <Described budget={budget} chosen={key} key={budget.name} />}</Loaded>
}

function Described({ budget, chosen }: { readonly budget: BudgetDescription; readonly chosen: string | undefined }) {
  const navigate = useNavigate({ from: '/budgets/$name' })
  const { keys, cursor, name } = budget
  const key = chosen ?? keys[0]?.key ?? ''
  const submit = (event: SubmitEvent<HTMLFormElement>) => {
    event.preventDefault()
    const given = textOf(new FormData(event.currentTarget), 'key')
    void navigate({ search: given === undefined ? {} : { key: given } })
  }
  return (
    <Page
      title={
        <>
          <Text>{name}</Text> <BudgetState budget={budget} />
        </>
      }
      actions={<BudgetActions budget={budget} />}
    >
      <Panel title="Facts">
        <BudgetFacts budget={budget} />
      </Panel>
      <Panel
        title="Keys"
        aside={
          <form className="filters" onSubmit={submit} key={chosen ?? ''} role="search">
            <input name="key" aria-label="Key" placeholder="Key" defaultValue={chosen} />
            <button type="submit">Filter</button>
          </form>
        }
      >
        <Keys budget={budget} keys={keys} isCut={cursor !== undefined} chosen={key} />
      </Panel>
      <History name={name} budgetKey={key} />
    </Page>
  )
}

function History({ name, budgetKey }: { readonly name: string; readonly budgetKey: string }) {
  const query = useMorePages({
    queryKey: ['budget', name, 'history', budgetKey],
    read: (cursor, signal) =>
      call('listCharges', {
        params: { budget: name },
        query: { limit: LINES_READ, cursor, ...(budgetKey === '' ? {} : { key: budgetKey }) },
        signal,
      }),
    refetchInterval: POLL_MS,
  })
  return (
    <Panel
      title={
        budgetKey === '' ? (
          'History'
        ) : (
          <>
            History of <Text>{budgetKey}</Text>
          </>
        )
      }
    >
      <Loaded query={query}>
        {({ pages }) => (
          <>
            <Periods periods={pages[0]?.periods ?? []} />
            <Ledger caption="Ledger" lines={pages.flatMap(({ items }) => items)} />
            <MoreButton query={query} label="Show earlier lines" />
          </>
        )}
      </Loaded>
    </Panel>
  )
}

type Period = Awaited<ReturnType<typeof call<'listCharges'>>>['periods'][number]

function Periods({ periods }: { readonly periods: readonly Period[] }) {
  if (periods.length === 0) return null
  return (
    <table>
      <caption>Past periods</caption>
      <thead>
        <tr>
          <th scope="col">From</th>
          <th scope="col">Until</th>
          <th scope="col">Spent</th>
          <th scope="col">Hard limit</th>
          <th scope="col" className="number">
            Reports
          </th>
        </tr>
      </thead>
      <tbody>
        {periods.map(({ since, until, spent, hard, chargeCount }) => (
          <tr key={since}>
            <td>
              <Moment at={since} />
            </td>
            <td>
              <Moment at={until} />
            </td>
            <td>
              <Amounts amounts={spent} />
            </td>
            <td>
              <Amounts amounts={hard} />
            </td>
            <td className="number">{chargeCount.toLocaleString('en')}</td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}
