/** What one batch of calls may do at most, counted by what it changed rather than by what the store reports. */
import { BATCH_OPERATION_LIMIT, BATCH_WORK_LIMIT, workLimitOf } from '../../src/kernel/index.ts'
import type { PartitionDump } from '../../src/stores/store.ts'
import { textOfRecord } from '../properties/record-text.ts'
import type { Effect } from './network.ts'

/** A batch does no more than a call may, and the operation that passes the bound is the last. */
export function boundProblems({ calls, answers, before, after }: Effect): string[] {
  const problems: string[] = []
  if (calls.length > BATCH_OPERATION_LIMIT) problems.push(`a batch has ${calls.length} calls`)
  const changed = after === before ? 0 : changedRecordCount(before, after)
  const largest = Math.max(...calls.map(({ operation }) => workLimitOf(operation)))
  if (calls.length === 1 && changed > largest) problems.push(`one call has changed ${changed} records`)
  if (changed >= BATCH_WORK_LIMIT + largest) problems.push(`a batch has changed ${changed} records`)
  const firstLeft = answers.findIndex(({ kind }) => kind === 'not_run')
  if (firstLeft === 0) problems.push('a batch was left before its first call')
  if (firstLeft !== -1 && answers.slice(firstLeft).some(({ kind }) => kind !== 'not_run')) {
    problems.push('a call was left out of the middle of a batch')
  }
  return problems
}

function changedRecordCount(before: PartitionDump, after: PartitionDump): number {
  const was = textsOf(before)
  const is = textsOf(after)
  const keys = new Set([...was.keys(), ...is.keys()])
  return [...keys].filter((key) => was.get(key) !== is.get(key)).length
}

/** A dump is compared with the one before it and with the one after it. */
const known = new WeakMap<PartitionDump, ReadonlyMap<string, string>>()

function textsOf(dump: PartitionDump): ReadonlyMap<string, string> {
  let texts = known.get(dump)
  if (texts === undefined) {
    texts = new Map(dump.records.map((record) => [`${record.type} ${record.id}`, textOfRecord(record)]))
    known.set(dump, texts)
  }
  return texts
}
