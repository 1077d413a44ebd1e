/** Names of metrics are put together from words, each but the first with a capital. */
export function capitalised(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1)
}

/** The same metrics with a word before each name. */
export function prefixed(prefix: string, metrics: Readonly<Record<string, number>>): Record<string, number> {
  return Object.fromEntries(Object.entries(metrics).map(([name, value]) => [`${prefix}${capitalised(name)}`, value]))
}
