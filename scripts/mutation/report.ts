/** Prints the results by file and by folder. */
import path from 'node:path'
import type { Mutant } from './mutants.ts'
import type { Result, Status } from './results.ts'

type Counts = Record<Status | 'not_tried', number>

/** Returns the percentage of mutants that were killed, those that timed out included. */
export function printReport(mutants: readonly Mutant[], results: readonly (Result | undefined)[]): number {
  const files = new Map<string, Counts>()
  const folders = new Map<string, Counts>()
  const all = noCounts()
  for (const [number, { file }] of mutants.entries()) {
    const status = results[number]?.status ?? 'not_tried'
    for (const counts of [countsOf(files, file), countsOf(folders, path.dirname(file)), all]) counts[status] += 1
  }
  console.log(line('', ['score', 'killed', 'timed out', 'survived', 'not covered', 'not tried', 'total']))
  for (const [name, counts] of [...files, ...folders]) console.log(line(name, cells(counts)))
  console.log(line('all', cells(all)))
  return scoreOf(all)
}

function noCounts(): Counts {
  return { killed: 0, timed_out: 0, survived: 0, not_covered: 0, not_tried: 0 }
}

function countsOf(parts: Map<string, Counts>, name: string): Counts {
  const counts = parts.get(name) ?? noCounts()
  parts.set(name, counts)
  return counts
}

function totalOf(counts: Counts): number {
  return counts.killed + counts.timed_out + counts.survived + counts.not_covered + counts.not_tried
}

function scoreOf(counts: Counts): number {
  return ((counts.killed + counts.timed_out) / totalOf(counts)) * 100
}

function cells(counts: Counts): string[] {
  const { killed, timed_out, survived, not_covered, not_tried } = counts
  return [
    scoreOf(counts).toFixed(1),
    ...[killed, timed_out, survived, not_covered, not_tried, totalOf(counts)].map(String),
  ]
}

function line(name: string, columns: readonly string[]): string {
  return name.padEnd(58) + columns.map((column) => column.padStart(12)).join('')
}
