/** Needs and capabilities: an execution names what it needs, and a worker claims it only if it has all of that. */

/** Separates needs in a class and in texts. No need contains it. */
export const NEEDS_SEPARATOR = ','

/** Returns needs without duplicates, in the order of their UTF-8 bytes. */
export function canonicalNeeds(needs: readonly string[]): string[] {
  return [...new Set(needs)].sort(compareBytes)
}

/** Returns the needs that are not among the capabilities. A worker may run an execution only if there are none. */
export function missingNeeds(needs: readonly string[], capabilities: ReadonlySet<string>): string[] {
  return needs.filter((need) => !capabilities.has(need))
}

/** The order of code points is that of UTF-8 bytes; the order of UTF-16 units is not. */
function compareBytes(first: string, second: string): number {
  let at = 0
  while (at < first.length && at < second.length) {
    const [a, b] = [codePoint(first, at), codePoint(second, at)]
    if (a !== b) return a - b
    at = at + String.fromCodePoint(a).length
  }
  return first.length - second.length
}

function codePoint(text: string, at: number): number {
  return text.codePointAt(at) ?? 0
}
