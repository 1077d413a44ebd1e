/** A measurement as a person reads it. */
import type { Measurement } from './measurement.ts'

export function printReport({ metrics, ratios, settings }: Measurement): void {
  printTable('metrics', metrics)
  printTable('ratios', ratios)
  printTable('settings', settings)
}

function printTable(title: string, values: Readonly<Record<string, string | number | boolean>>): void {
  const entries = Object.entries(values)
  if (entries.length === 0) return
  const width = Math.max(...entries.map(([name]) => name.length))
  console.log(`\n${title}`)
  for (const [name, value] of entries) console.log(`  ${name.padEnd(width)}  ${show(value)}`)
}

function show(value: string | number | boolean): string {
  return typeof value === 'number' ? value.toLocaleString('en-US', { maximumFractionDigits: 2 }) : String(value)
}
