/** The same list, begun at another place: whoever is measured first in one round is not in the next. */
export function rotated<T>(values: readonly T[], by: number): T[] {
  const start = by % values.length
  return [...values.slice(start), ...values.slice(0, start)]
}
