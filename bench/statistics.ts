/** The few statistics that the scenarios use. */

/** The value below which this fraction of the values lies, taken from the values themselves. */
export function percentile(values: readonly number[], fraction: number): number {
  const sorted = [...values].sort((a, b) => a - b)
  const place = Math.min(sorted.length - 1, Math.max(0, Math.ceil(fraction * sorted.length) - 1))
  return sorted[place] ?? Number.NaN
}

/** Half of the values lie on either side; of an even number, the mean of the two in the middle. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  const middle = sorted.length / 2
  const upper = sorted[Math.floor(middle)] ?? Number.NaN
  if (sorted.length % 2 === 1) return upper
  return ((sorted[middle - 1] ?? Number.NaN) + upper) / 2
}

/** Two places after the point, which is more than any measurement here can resolve. */
export function rounded(value: number): number {
  return Math.round(value * 100) / 100
}
