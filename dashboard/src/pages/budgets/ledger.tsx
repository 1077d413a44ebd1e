/** The lines of a ledger: of one key of a budget, or of one execution. */
import { Link } from '@tanstack/react-router'
import type { LedgerEntry } from '../../api/types.ts'
import { Text } from '../../parts/text.tsx'
import { Moment } from '../../parts/time.tsx'
import { Amounts } from './use.tsx'

export function Ledger({ lines, caption }: { readonly lines: readonly LedgerEntry[]; readonly caption?: string }) {
  if (lines.length === 0) return <p className="muted">The ledger has no line.</p>
  return (
    <table>
      {caption !== undefined && <caption>{caption}</caption>}
      <thead>
        <tr>
          <th scope="col">When</th>
          <th scope="col">Spent</th>
          <th scope="col">Report</th>
          <th scope="col">Execution</th>
          <th scope="col" className="number">
            Attempt
          </th>
          <th scope="col">Budgets</th>
        </tr>
      </thead>
      <tbody>
        {lines.map((line, i) => (
          <tr key={`${line.executionId}:${line.key}:${line.at}:${i}`}>
            <td>
              <Moment at={line.at} />
            </td>
            <td>
              <Amounts amounts={line.spent} />
            </td>
            <td>
              <Text className="mono">{line.key}</Text>
            </td>
            <td>
              {line.executionId === undefined ? (
                <Text>{line.task}</Text>
              ) : (
                <Link to="/executions/$id" params={{ id: line.executionId }}>
                  <Text>{line.task}</Text>
                </Link>
              )}
            </td>
            <td className="number">{line.attempt}</td>
            <td>
              {line.budgets.map(({ budget, key }, at) => (
                <span key={`${budget}:${key}`}>
                  {at > 0 && ', '}
                  <Link to="/budgets/$name" params={{ name: budget }} search={key === '' ? {} : { key }}>
                    <Text>{key === '' ? budget : `${budget} (${key})`}</Text>
                  </Link>
                </span>
              ))}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}
