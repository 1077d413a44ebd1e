import type { Cell } from '../kernel/index.ts'

/** A record as a table keeps it. */
export function recordText(cells: readonly Cell[]): string {
  return JSON.stringify(cells)
}

/** Text that is no record at all is a record without values: whoever unpacks it finds that it cannot be read. */
export function cellsOf(text: string): Cell[] {
  try {
    const cells: unknown = JSON.parse(text)
    return Array.isArray(cells) ? (cells as Cell[]) : []
  } catch {
    return []
  }
}
