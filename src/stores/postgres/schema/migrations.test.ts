import { expect, test } from 'vitest'
import { eventFields, eventTypes } from '../../../kernel/index.ts'
import type { FieldKind } from '../../../kernel/index.ts'
import { migrations } from './migrations.ts'

const sql = migrations.map((step) => step.sql.replaceAll(/'\s*\n\s*'/g, '')).join('\n')

/** Where the kernel keeps a field of an event, and how the latest view reads it. */
function wordsInView(column: string): string[] {
  const all = [...sql.matchAll(/'\{([a-z_,]+)\}'::text\[\]\)\[[^\]]*\] as (\w+)/g)]
  return all.findLast(([, , name]) => name === column)?.[1]?.split(',') ?? []
}

function positionInView(column: string): number {
  const all = [...sql.matchAll(/cells ->> (\d+)[^\n]* as (\w+)/g)]
  return Number(all.findLast(([, , name]) => name === column)?.[1])
}

function wordsOf(of: FieldKind | undefined): readonly string[] {
  return of?.kind === 'word' ? of.words : []
}

test('the view of events knows every word that the kernel stores as a number', () => {
  expect(wordsInView('type')).toEqual(eventTypes)
  expect(wordsInView('outcome')).toEqual(wordsOf(eventFields.find(({ name }) => name === 'outcome')?.of))
})

test.each([
  ['type', 'type'],
  ['execution_id', 'executionId'],
  ['namespace', 'namespace'],
  ['task', 'task'],
  ['lane', 'lane'],
  ['attempt_number', 'attempt'],
  ['outcome', 'outcome'],
  ['worker_id', 'workerId'],
  ['reason', 'reason'],
  ['flow_id', 'flowId'],
  ['step', 'step'],
  ['waitpoint', 'waitpoint'],
  ['signal', 'signal'],
  ['effect', 'effect'],
])('the view of events finds its column %s where the kernel keeps %s', (column, field) => {
  expect(positionInView(column)).toBe(eventFields.findIndex(({ name }) => name === field))
})
