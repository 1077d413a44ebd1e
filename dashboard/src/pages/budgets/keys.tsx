import { Link } from '@tanstack/react-router'
import type { Budget, BudgetKey } from '../../api/types.ts'
import { Text } from '../../parts/text.tsx'
import { Moment } from '../../parts/time.tsx'
import { KeyActions } from './actions.tsx'
import { Uses } from './use.tsx'

/** What the keys of a budget have spent. A key is a link to its history. */
export function Keys(props: {
  readonly budget: Budget
  readonly keys: readonly BudgetKey[]
  readonly isCut: boolean
  readonly chosen?: string | undefined
}) {
  const { budget, keys, isCut, chosen } = props
  if (keys.length === 0) return <p className="muted">Nothing was spent.</p>
  return (
    <table>
      <thead>
        <tr>
          <th scope="col">Key</th>
          <th scope="col">Use</th>
          <th scope="col" className="number">
            Reports
          </th>
          <th scope="col" className="number">
            Breaches
          </th>
          <th scope="col">Since</th>
          <th scope="col">
            <span className="visually-hidden">Actions</span>
          </th>
        </tr>
      </thead>
      <tbody>
        {keys.map((usage) => (
          <tr key={usage.key}>
            <td>
              <Link
                to="/budgets/$name"
                params={{ name: budget.name }}
                search={usage.key === '' ? {} : { key: usage.key }}
                aria-current={usage.key === chosen ? 'true' : undefined}
              >
                {usage.key === '' ? 'without a key' : <Text>{usage.key}</Text>}
              </Link>
            </td>
            <td>
              <Uses usage={usage} />
            </td>
            <td className="number">{usage.chargeCount.toLocaleString('en')}</td>
            <td className="number">{usage.breachCount.toLocaleString('en')}</td>
            <td>
              <Moment at={usage.since} />
            </td>
            <td>
              <KeyActions budget={budget} usage={usage} />
            </td>
          </tr>
        ))}
      </tbody>
      {isCut && <caption className="muted">Only the first {keys.length} keys are shown.</caption>}
    </table>
  )
}
