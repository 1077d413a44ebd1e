/** Shows how the tables of a store differ from those that the migrations make. */
import type { TableDifference } from '../../stores/open/compare-tables.ts'
import { printable } from './printable.ts'

export function differenceText({ kind, object, name, expected, found, remedy }: TableDifference): string {
  return [
    `${kind} ${object} ${printable(name)}`,
    ...(expected === undefined ? [] : [`  expected: ${oneLine(expected)}`]),
    ...(found === undefined ? [] : [`  found:    ${oneLine(found)}`]),
    `  ${remedy}`,
  ].join('\n')
}

function oneLine(definition: string): string {
  return printable(definition.replaceAll(/\s+/g, ' ').trim())
}
