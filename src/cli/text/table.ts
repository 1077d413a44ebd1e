/** Formats text in columns: as wide as their widest cell, two spaces apart, without trailing spaces. */
import { stripVTControlCharacters } from 'node:util'
import { printable } from './printable.ts'
import type { Output } from './output.ts'

const GAP = '  '

/** Formats rows of cells. `alignRight` lists numeric columns. */
export function table(
  given: readonly (readonly string[])[],
  options: { readonly alignRight?: readonly number[]; readonly indent?: string } = {},
): string {
  const widths: number[] = []
  // A cell is one line, whatever it contains.
  const rows = given.map((row) => row.map((cell) => cell.replaceAll('\n', '\\n')))
  for (const row of rows) row.forEach((cell, i) => (widths[i] = Math.max(widths[i] ?? 0, widthOf(cell))))
  const lines = rows.map((row) =>
    row
      .map((cell, i) => {
        const padding = ' '.repeat((widths[i] ?? 0) - widthOf(cell))
        return options.alignRight?.includes(i) === true ? padding + cell : cell + padding
      })
      .join(GAP)
      .trimEnd(),
  )
  return lines.map((line) => (options.indent ?? '') + line).join('\n')
}

function widthOf(cell: string): number {
  return Array.from(stripVTControlCharacters(cell)).length
}

export type Row = readonly [name: string, value: string | undefined]

/** Formats names and values, one pair a line. Omits undefined values. */
export function rowsText(rows: readonly Row[], output: Output): string {
  const shown = rows.flatMap(([name, value]) =>
    value === undefined ? [] : [[output.style('dim', name), printable(value)]],
  )
  return table(shown, { indent: '  ' })
}
