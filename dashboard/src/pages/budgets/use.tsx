/** How much of a budget is spent and reserved, and what is left, by dimension. */
import type { BudgetDimension, BudgetKey } from '../../api/types.ts'
import { Text } from '../../parts/text.tsx'

function amountText(amount: number): string {
  return amount.toLocaleString('en')
}

export function Amounts({ amounts }: { readonly amounts: Readonly<Record<string, number>> }) {
  const entries = Object.entries(amounts)
  return <Text>{entries.map(([dimension, amount]) => `${amountText(amount)} ${dimension}`).join(', ')}</Text>
}

export function Uses({ usage: { dimensions } }: { readonly usage: BudgetKey }) {
  return (
    <div className="uses">
      {dimensions.map((each) => (
        <Use key={each.dimension} use={each} />
      ))}
    </div>
  )
}

function Use({ use }: { readonly use: BudgetDimension }) {
  const { dimension, spent, reserved, hard, left, forecast } = use
  const words = [
    `${amountText(spent)} spent`,
    reserved > 0 && `${amountText(reserved)} reserved`,
    hard !== undefined && left !== undefined && `${amountText(Math.max(0, left))} left of ${amountText(hard)}`,
    forecast !== undefined && `${amountText(forecast)} expected when it begins anew`,
  ].filter((word) => word !== false)
  const text = words.join(', ')
  return (
    <div className="share-of">
      <span>
        <Text>{dimension}</Text>
      </span>
      {hard !== undefined && <Bar use={use} hard={hard} />}
      <span className="muted small">{text}</span>
    </div>
  )
}

/** What the words beside it say, to scale. */
function Bar({ use: { spent, reserved }, hard }: { readonly use: BudgetDimension; readonly hard: number }) {
  const whole = Math.max(hard, spent + reserved, 1)
  const parts = [
    [spent > hard ? 'over' : 'spent', spent],
    ['reserved', reserved],
    ['left', whole - spent - reserved],
  ] as const
  return (
    <div className="share" aria-hidden="true">
      {parts.map(([part, amount]) => (
        <span key={part} data-use={part} style={{ width: `${(100 * amount) / whole}%` }} />
      ))}
    </div>
  )
}
