/** Names and what they stand for, one below the other. What is undefined is left out. */
import { printable } from './output.ts'
import type { Output } from './output.ts'
import { table } from './table.ts'

export type Row = readonly [name: string, value: string | undefined]

export function rowsText(rows: readonly Row[], output: Output): string {
  const shown = rows.flatMap(([name, value]) =>
    value === undefined ? [] : [[output.style('dim', name), printable(value)]],
  )
  return table(shown, { indent: '  ' })
}
