/** Hides the password in a text that may be the location of a store, also in one that is not well-formed. */
export function hidePassword(text: string): string {
  return text.replace(/(:\/\/[^:@]*):.*@/s, '$1:…@')
}
