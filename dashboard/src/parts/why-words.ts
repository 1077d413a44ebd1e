/** The explanation of the server as the page shows it. Instants lose a precision that no person needs, and commands are links here. */
export function whyWords(text: string): string {
  return text
    .replace(/(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d)\.\d{3}Z/g, '$1 $2 UTC')
    .replace(/ (?:Answer with|Resume it with) flowfabric [^.]*\./g, '')
}
