/** What work has cost: by task, by the keys of every budget (such as tenants and models), and by day. */
import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { call } from '../api/call.ts'
import type { Budget, BudgetCosts } from '../api/types.ts'
import { Text } from '../parts/text.tsx'
import { Moment } from '../parts/time.tsx'
import { Empty, Loaded, Page } from '../parts/views.tsx'
import { CostTable } from './costs/cost-table.tsx'
import { Days } from './costs/days.tsx'
import { costRanges } from './costs/ranges.ts'

const DAY_MS = 86_400_000
type Range = (typeof costRanges)[number]
const RANGES: Readonly<Record<Range, number>> = { '1d': 1, '7d': 7, '30d': 30 }
/** Lines of the ledger that are summed. */
const EXAMINED = 10_000
const POLL_MS = 30_000

export function CostsPage() {
  const query = useQuery({ queryKey: ['budgets'], queryFn: ({ signal }) => call('listBudgets', { signal }) })
  return (
    <Page title="Costs">
      <Loaded query={query}>
        {({ items }) => {
          const [first] = items
          return first === undefined ? (
            <Empty title="There is no budget">
              Costs are summed from the ledgers of budgets. Define one with budget(name, options), without a limit if it
              is only to count.
            </Empty>
          ) : (
            <OfBudget budgets={items} first={first.name} />
          )
        }}
      </Loaded>
    </Page>
  )
}

function OfBudget({ budgets, first }: { readonly budgets: readonly Budget[]; readonly first: string }) {
  const { budget = first, range = '7d', unit } = useSearch({ from: '/costs' })
  const query = useQuery({
    queryKey: ['costs', budget, range],
    queryFn: ({ signal }) => {
      // Whole days of UTC, as the sums by day.
      const from = (Math.floor(Date.now() / DAY_MS) + 1 - RANGES[range]) * DAY_MS
      return call('sumCosts', { params: { budget }, query: { from, examine: EXAMINED }, signal })
    },
    refetchInterval: POLL_MS,
    placeholderData: (before) => before,
  })
  return (
    <>
      <Choices budgets={budgets} budget={budget} range={range} />
      <Loaded query={query}>{(costs) => <Sums costs={costs} unit={unit} budget={budget} range={range} />}</Loaded>
    </>
  )
}

function Choices(props: { readonly budgets: readonly Budget[]; readonly budget: string; readonly range: Range }) {
  const { budgets, budget, range } = props
  const navigate = useNavigate({ from: '/costs' })
  return (
    <div className="filters">
      <label className="inline-field">
        Budget
        <select
          value={budget}
          onChange={(event) => {
            const chosen = event.target.value
            void navigate({ search: (before) => ({ ...before, budget: chosen }) })
          }}
        >
          {budgets.map(({ name }) => (
            <option key={name}>{name}</option>
          ))}
        </select>
      </label>
      <div className="states" role="group" aria-label="Range">
        {costRanges.map((each) => (
          <Link
            key={each}
            from="/costs"
            search={(before) => ({ ...before, range: each })}
            className="chip"
            aria-current={each === range ? 'true' : undefined}
          >
            {each === '1d' ? 'Today' : `${RANGES[each]} days`}
          </Link>
        ))}
      </div>
    </div>
  )
}

function Sums(props: {
  readonly costs: BudgetCosts
  readonly unit: string | undefined
  readonly budget: string
  readonly range: Range
}) {
  const { costs, unit, budget, range } = props
  const { total, tasks, days, budgets, completeSince, isCut } = costs
  const units = Object.keys(total.spent)
  const shown = units.find((each) => each === unit) ?? units[0]
  if (shown === undefined) return <Empty title="Nothing was spent in this time" />
  const whole = total.spent[shown] ?? 0
  const others = Map.groupBy(
    budgets.filter((each) => each.budget !== budget || each.key !== ''),
    (each) => each.budget,
  )
  return (
    <>
      {units.length > 1 && <Units units={units} shown={shown} />}
      {completeSince !== undefined && (
        <p className="notice" data-kind="forbidden">
          These are the latest {costs.examined.toLocaleString('en')} reports. All are counted since{' '}
          <Moment at={completeSince} />; choose a shorter time for complete sums.
        </p>
      )}
      {isCut && <p className="muted">Only the first 100 entries of each list are shown.</p>}
      <Days days={days} unit={shown} range={RANGES[range]} total={total} />
      <div className="columns">
        <CostTable
          title="By task"
          unit={shown}
          whole={whole}
          rows={tasks.map(({ namespace, task, ...sum }) => ({
            key: `${namespace} ${task}`,
            label: (
              <Link to="/executions" search={{ task }}>
                <Text>{namespace === 'default' ? task : `${task} (${namespace})`}</Text>
              </Link>
            ),
            ...sum,
          }))}
        />
        {[...others].map(([name, keys]) => (
          <CostTable
            key={name}
            title={
              <span>
                By key of <Text>{name}</Text>
              </span>
            }
            unit={shown}
            whole={whole}
            rows={keys.map(({ key, ...sum }) => ({
              key,
              label: (
                <Link to="/budgets/$name" params={{ name }} search={key === '' ? {} : { key }}>
                  <Text>{key === '' ? 'without a key' : key}</Text>
                </Link>
              ),
              ...sum,
            }))}
          />
        ))}
      </div>
    </>
  )
}

function Units({ units, shown }: { readonly units: readonly string[]; readonly shown: string }) {
  return (
    <nav className="tabs" aria-label="Dimension">
      {units.map((unit) => (
        <Link
          key={unit}
          from="/costs"
          search={(before) => ({ ...before, unit })}
          aria-current={unit === shown ? 'page' : undefined}
        >
          <Text>{unit}</Text>
        </Link>
      ))}
    </nav>
  )
}
