/** Execution ids: `<partition>-<uuid>`, minted for each submit or derived from the caller's own key. */
import { createHash } from 'node:crypto'
import { SEPARATOR } from '../kernel/index.ts'
import type { ExecutionId } from '../kernel/index.ts'
import type { Runtime } from '../runtime/index.ts'
import { executionPartition } from '../stores/store.ts'
import type { Partition } from '../stores/store.ts'
import { checkKey, invalidInput, show } from './names.ts'

const EXECUTION_ID = /^(0|[1-9]\d{0,4})-([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})$/

/** The one parser of ids at the boundary. A partition that this store does not have is refused. */
export function parseExecutionId(text: string, partitionCount: number): ExecutionId {
  const match = EXECUTION_ID.exec(text)
  if (match === null) throw invalidInput('id', `${show(text)} is not an execution id of the form <partition>-<uuid>.`)
  if (Number(match[1]) >= partitionCount) {
    throw invalidInput('id', `${show(text)} names partition ${match[1]}, but this store has ${partitionCount}.`)
  }
  return text as ExecutionId
}

export function mintExecutionId(partitionNumber: number, runtime: Runtime): ExecutionId {
  return `${partitionNumber}-${runtime.uuid()}` as ExecutionId
}

/** The same namespace and key always give the same id, so that starting twice meets itself. */
export function executionIdFromKey(namespace: string, key: string, partitionCount: number): ExecutionId {
  if (EXECUTION_ID.test(key)) {
    throw invalidInput(
      'id',
      `${show(key)} has the form of an execution's own id and would be taken for one: put a word before it.`,
    )
  }
  const digest = createHash('sha256')
    .update(namespace + SEPARATOR + checkKey(key))
    .digest()
  const number = digest.readUInt32BE(16) % partitionCount
  const bytes = digest.subarray(0, 16)
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x80
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80
  const hex = bytes.toString('hex')
  const uuid = [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-')
  return `${number}-${uuid}` as ExecutionId
}

/** An id as it is, or the id that belongs to a key: a key is accepted wherever an id is. */
export function resolveExecutionId(idOrKey: string, namespace: string, partitionCount: number): ExecutionId {
  return EXECUTION_ID.test(idOrKey)
    ? parseExecutionId(idOrKey, partitionCount)
    : executionIdFromKey(namespace, idOrKey, partitionCount)
}

/** The id routes itself. */
export function partitionOf(id: ExecutionId): Partition {
  return executionPartition(Number(id.slice(0, id.indexOf('-'))))
}
