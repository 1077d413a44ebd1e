import type { ReactNode } from 'react'
import { Panel } from '../../parts/views.tsx'
import { costText } from './amount.ts'

interface CostRow {
  readonly key: string
  readonly label: ReactNode
  readonly count: number
  readonly spent: Readonly<Record<string, number>>
}

/** Who has spent how much of one dimension, the most first, each with its share of the whole. */
export function CostTable(props: {
  readonly title: ReactNode
  readonly unit: string
  readonly whole: number
  readonly rows: readonly CostRow[]
}) {
  const { title, unit, whole, rows } = props
  const amountOf = (row: CostRow) => row.spent[unit] ?? 0
  const sorted = rows.filter((row) => amountOf(row) > 0).sort((a, b) => amountOf(b) - amountOf(a))
  return (
    <Panel title={title} isFlush>
      <table>
        <thead>
          <tr>
            <th scope="col">Name</th>
            <th scope="col">Share</th>
            <th scope="col" className="number">
              Spent
            </th>
            <th scope="col" className="number">
              Reports
            </th>
          </tr>
        </thead>
        <tbody>
          {sorted.map((row) => (
            <tr key={row.key}>
              <td className="breakable">{row.label}</td>
              <td className="share-cell">
                <div className="share" aria-hidden="true">
                  <span data-use="spent" style={{ width: `${whole === 0 ? 0 : (100 * amountOf(row)) / whole}%` }} />
                </div>
              </td>
              <td className="number">{costText(unit, amountOf(row))}</td>
              <td className="number">{row.count.toLocaleString('en')}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Panel>
  )
}
