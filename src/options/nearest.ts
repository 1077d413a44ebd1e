/** Finds the known name that a misspelt one probably means. */

/** At most one letter of so many, rounded up, may differ in a misspelt name. */
const MISSPELT_SHARE = 3

export function nearestOf(key: string, known: readonly string[]): string | undefined {
  let nearest: string | undefined
  let least = Math.ceil(key.length / MISSPELT_SHARE) + 1
  for (const name of known) {
    const distance = distanceOf(key.toLowerCase(), name.toLowerCase())
    if (distance >= least) continue
    nearest = name
    least = distance
  }
  return nearest
}

/** A sentence that proposes the nearest name, with a space before it; empty if there is none. */
export function suggestion(key: string, known: readonly string[]): string {
  const nearest = nearestOf(key, known)
  return nearest === undefined ? '' : ` Did you mean ${nearest}?`
}

/** The number of letters to add, remove or replace, in any order: letters that are swapped do not count. */
function distanceOf(a: string, b: string): number {
  let left = b
  let missing = 0
  for (const letter of a) {
    const without = left.replace(letter, '')
    if (without === left) missing++
    left = without
  }
  return Math.max(missing, left.length)
}
