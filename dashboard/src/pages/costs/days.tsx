import type { BudgetCosts } from '../../api/types.ts'
import { Panel } from '../../parts/views.tsx'
import { costText } from './amount.ts'

const DAY_MS = 86_400_000
const HEIGHT = 96
const STEP = 10
const BAR = 6

/** What was spent on each day of UTC, as a picture; its numbers are a table for those who do not see it. */
export function Days(props: {
  readonly days: BudgetCosts['days']
  readonly total: BudgetCosts['total']
  readonly unit: string
  readonly range: number
}) {
  const { days, total, unit, range } = props
  const today = Math.floor(Date.now() / DAY_MS)
  const bars = Array.from({ length: range }, (_, i) => {
    const day = (today - range + 1 + i) * DAY_MS
    return { day, amount: days.find((each) => each.day === day)?.spent[unit] ?? 0 }
  })
  const most = Math.max(1, ...bars.map(({ amount }) => amount))
  return (
    <Panel
      title="By day"
      aside={
        <span className="muted number">
          {costText(unit, total.spent[unit] ?? 0)} {unit} in {total.count.toLocaleString('en')}{' '}
          {total.count === 1 ? 'report' : 'reports'}
        </span>
      }
    >
      {range > 1 && (
        <>
          <svg
            className="chart"
            viewBox={`0 0 ${range * STEP} ${HEIGHT}`}
            preserveAspectRatio="none"
            aria-hidden="true"
          >
            <line x1={0} x2={range * STEP} y1={HEIGHT - 0.5} y2={HEIGHT - 0.5} />
            {bars.map(({ day, amount }, i) => (
              <rect
                key={day}
                data-series="spent"
                x={i * STEP + (STEP - BAR) / 2}
                width={BAR}
                y={HEIGHT - (amount / most) * (HEIGHT - 4)}
                height={(amount / most) * (HEIGHT - 4)}
              />
            ))}
          </svg>
          <p className="legend">
            <span className="plain-legend-start">{dayText(bars[0]?.day ?? 0)}</span>
            <span className="plain-legend">
              {dayText(today * DAY_MS)}, at most {costText(unit, most)} a day
            </span>
          </p>
        </>
      )}
      <div className={range > 7 ? 'visually-hidden' : 'scrolled'}>
        <table className="small-table">
          <caption className="visually-hidden">Spent by day</caption>
          <thead>
            <tr>
              {bars.map(({ day }) => (
                <th scope="col" key={day} className="number">
                  {dayText(day)}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            <tr>
              {bars.map(({ day, amount }) => (
                <td key={day} className="number">
                  {costText(unit, amount)}
                </td>
              ))}
            </tr>
          </tbody>
        </table>
      </div>
    </Panel>
  )
}

function dayText(day: number): string {
  return new Date(day).toISOString().slice(5, 10)
}
