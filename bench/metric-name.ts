/** Names of metrics are put together from words, each but the first with a capital. */
export function capitalised(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1)
}
