import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { call } from '../api/call.ts'
import { isOfBudget } from '../api/events.ts'
import { useLive } from '../api/live.ts'
import type { Budget } from '../api/types.ts'
import { Text } from '../parts/text.tsx'
import { Empty, Failed, Loaded, Loading, Page, Panel } from '../parts/views.tsx'
import { BudgetActions } from './budgets/actions.tsx'
import { DefineBudget } from './budgets/define.tsx'
import { BudgetFacts, BudgetState } from './budgets/facts.tsx'
import { Keys } from './budgets/keys.tsx'

/** Amounts are spent and reserved without an event. */
const POLL_MS = 3_000
const KEYS_SHOWN = 5
/** Each budget is a request; the use of those after them is on their own screens. */
const USES_SHOWN = 40

export function BudgetsPage() {
  const query = useQuery({ queryKey: ['budgets'], queryFn: ({ signal }) => call('listBudgets', { signal }) })
  useLive(isOfBudget, () => void query.refetch(), 1_000)
  return (
    <Page title="Budgets" actions={<DefineBudget />}>
      <Loaded query={query}>
        {({ items }) =>
          items.length === 0 ? (
            <Empty title="There is no budget">Define one here, or with budget(name, options) in a program.</Empty>
          ) : (
            <>
              <p className="muted">What is spent counts in the budgets above, too. Money is in millionths.</p>
              <Branch budgets={topmost(items)} all={items} className="tree" />
            </>
          )
        }
      </Loaded>
    </Page>
  )
}

/** Those whose parent is not among them, so that none is left out. */
function topmost(items: readonly Budget[]): readonly Budget[] {
  const names = new Set(items.map(({ name }) => name))
  return items.filter(({ parent }) => parent === undefined || !names.has(parent))
}

function Branch(props: {
  readonly budgets: readonly Budget[]
  readonly all: readonly Budget[]
  readonly className?: string
}) {
  const { budgets, all, className } = props
  return (
    <ul className={className}>
      {budgets.map((budget) => {
        const below = all.filter(({ parent }) => parent === budget.name)
        return (
          <li key={budget.name}>
            <BudgetPanel budget={budget} hasUse={all.indexOf(budget) < USES_SHOWN} />
            {below.length > 0 && <Branch budgets={below} all={all} />}
          </li>
        )
      })}
    </ul>
  )
}

function BudgetPanel({ budget, hasUse }: { readonly budget: Budget; readonly hasUse: boolean }) {
  return (
    <Panel
      title={
        <>
          <Link to="/budgets/$name" params={{ name: budget.name }}>
            <Text>{budget.name}</Text>
          </Link>{' '}
          <BudgetState budget={budget} />
        </>
      }
      aside={<BudgetActions budget={budget} />}
    >
      <BudgetFacts budget={budget} />
      {hasUse && <FirstKeys budget={budget} />}
    </Panel>
  )
}

function FirstKeys({ budget }: { readonly budget: Budget }) {
  const query = useQuery({
    queryKey: ['budget', budget.name, 'first'],
    queryFn: ({ signal }) =>
      call('describeBudget', { params: { budget: budget.name }, query: { limit: KEYS_SHOWN }, signal }),
    refetchInterval: POLL_MS,
  })
  if (query.data === undefined) return query.error === null ? <Loading /> : <Failed error={query.error} />
  return <Keys budget={budget} keys={query.data.keys} isCut={query.data.cursor !== undefined} />
}
