/** Divides lists of facts, so that one statement or command handles a bounded number. */

export const FACT_PAGE_COUNT = 500

export function factPages(names: readonly string[]): string[][] {
  const pages: string[][] = []
  for (let i = 0; i < names.length; i += FACT_PAGE_COUNT) pages.push(names.slice(i, i + FACT_PAGE_COUNT))
  return pages
}
