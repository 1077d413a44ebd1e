/** The dimension whose amounts are millionths of a currency. */
const MONEY = 'cost'
const MILLIONTHS = 1_000_000

/** `1,234` tokens, or `0.0345` of a currency. */
export function costText(unit: string, amount: number): string {
  if (unit !== MONEY) return amount.toLocaleString('en')
  return (amount / MILLIONTHS).toLocaleString('en', { minimumFractionDigits: 2, maximumFractionDigits: 4 })
}
