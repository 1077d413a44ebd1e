/** Reports whether the tables of a store are those that the migrations make. */
import type { TableComparison } from '../../stores/open/compare-tables.ts'
import { printable } from '../text/printable.ts'
import type { Finding } from './diagnosis.ts'

/** The most differences that the finding names; "flowfabric migrate --check" shows all. */
const NAMED_DIFFERENCES_MAX = 3

/** Returns no finding for a store without tables. */
export function tableFindings(comparison: TableComparison): Finding[] {
  const found = (verdict: Finding['verdict'], text: string): Finding[] => [
    { check: 'tables', verdict, text, partitions: [] },
  ]
  switch (comparison.kind) {
    case 'no_tables':
    case 'not_set_up':
      return []
    case 'not_permitted':
      return found('ok', `not compared: ${printable(comparison.message)}. Run flowfabric migrate --check as the owner.`)
    case 'same':
      return found('ok', `the tables are those of schema version ${comparison.version}`)
    case 'different': {
      const { differences } = comparison
      const names = differences
        .slice(0, NAMED_DIFFERENCES_MAX)
        .map(({ kind, object, name }) => `${kind} ${object} ${printable(name)}`)
      const others = differences.length - names.length
      const list = others > 0 ? `${names.join(', ')} and ${others} more` : names.join(', ')
      const verdict = differences.every(({ kind }) => kind === 'unexpected') ? 'warning' : 'problem'
      return found(
        verdict,
        `the tables are not those that the migrations make: ${list}. flowfabric migrate --check shows what to do.`,
      )
    }
  }
}
