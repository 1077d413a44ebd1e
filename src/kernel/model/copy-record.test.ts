import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { record } from './any-record.fixture.ts'
import { UNKNOWN_VALUES } from './codec.ts'
import type { Cell } from './codec.ts'
import { copyRecord } from './copy-record.ts'
import { newJournal } from '../rules/journal-ids.ts'
import type { AnyRecord, Execution } from './records.ts'
import { packRecord, unpackRecord } from './schema.ts'

/** Objects that operations replace and never change, by the names of their fields and by their phases. Copies share them. */
const REPLACED = [
  'retry',
  'payload',
  'result',
  'lastLease',
  'unwinding',
  'value',
  'refusals',
  'followUp',
  'begins',
  'removed',
  'pastRequests',
  'budgets',
  'input',
  'needs',
  'keeps',
  'fair',
  'rate',
  'window',
  'waiting',
  'runners',
  'owed',
  'asks',
  'requests',
  'limits',
  'retentions',
  'passes',
  'unadmitted',
  'schedule',
  'shaping',
]
/** Types of records without anything that an operation changes in place. */
const REPLACED_WHOLE: readonly string[] = [
  'worker',
  'share',
  'rotation',
  'lane',
  'duties',
  'stream',
  'frame_chunk',
  'schedule',
  'consumer',
  'budget',
  'account',
  'reservation',
  'charge',
  'past_period',
  'shaping_key',
  'audit_entry',
]
const REPLACED_PHASES = ['eligible', 'delayed', 'blocked', 'ended']

/** Every object and list in a value, without the unknown values. Leaves out the fields with some names. */
function objectsIn(value: unknown, without: readonly string[] = [], found = new Set<object>()): Set<object> {
  if (typeof value !== 'object' || value === null) return found
  found.add(value)
  for (const [name, content] of Object.entries(value)) {
    if (name !== UNKNOWN_VALUES && !without.includes(name)) objectsIn(content, without, found)
  }
  return found
}

/** Every object and list in a record that an operation could change. */
function changeableIn(one: AnyRecord): Set<object> {
  if (REPLACED_WHOLE.includes(one.type)) return new Set([one])
  const isReplaced = one.type === 'execution' && REPLACED_PHASES.includes(one.state.phase)
  return objectsIn(one, isReplaced ? [...REPLACED, 'state'] : REPLACED)
}

/** The names of the fields of every object in a value, in their order. */
function namesIn(value: unknown): string[][] {
  return [...objectsIn(value)].map((one) => Object.keys(one))
}

describe('a copy of a record', () => {
  test('equals its original, absent fields and the order of fields included', () => {
    fc.assert(
      fc.property(record, (one) => {
        const copy = copyRecord(one)

        expect(copy).toStrictEqual(one)
        expect(namesIn(copy)).toEqual(namesIn(one))
      }),
    )
  })

  test('shares no object and no list that an operation could change with its original', () => {
    fc.assert(
      fc.property(record, (one) => {
        const originals = changeableIn(one)

        expect([...objectsIn(copyRecord(one))].filter((object) => originals.has(object))).toEqual([])
      }),
      { numRuns: 500 },
    )
  })

  test('has no object where its original has none', () => {
    const journal = { ...newJournal(1, 1), resumed: undefined, childCancels: undefined }
    const executions = record.filter(({ type }) => type === 'execution') as fc.Arbitrary<Execution>
    for (const one of fc.sample(executions, 3)) {
      expect(copyRecord({ ...one, journal })).toStrictEqual({ ...one, journal })
    }
  })

  test('keeps values that the schema does not know', () => {
    fc.assert(
      fc.property(record, (one) => {
        const newer: Cell[] = [...packRecord(one), 'newer']

        expect(packRecord(copyRecord(unpackRecord(one.type, newer)))).toEqual(newer)
      }),
    )
  })
})
