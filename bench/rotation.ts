/** The same list, begun at another place, so that each round measures another one first. */
export function rotated<T>(values: readonly T[], by: number): T[] {
  const start = by % values.length
  return [...values.slice(start), ...values.slice(0, start)]
}
