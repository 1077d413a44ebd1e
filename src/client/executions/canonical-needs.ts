/** The form in which needs are stored and compared. */
import { createHash } from 'node:crypto'
import {
  CLASS_NEEDS_BYTES,
  NEEDS_BYTES,
  NEEDS_SEPARATOR,
  NEED_COUNT_MAX,
  canonicalNeeds,
  taskClass,
} from '../../kernel/index.ts'
import type { NeedsName } from '../../kernel/index.ts'
import { invalidInput } from '../checks/names.ts'

/** Bytes of the digest: enough that two lists of needs never share a class. */
const DIGEST_BYTES = 18

/** Returns needs or capabilities without duplicates, in the order of their bytes. Throws if there are too many. */
export function canonicalList(list: readonly string[], field: string): readonly string[] {
  if (list.length === 0) return list
  const needs = canonicalNeeds(list)
  if (needs.length > NEED_COUNT_MAX) {
    throw invalidInput(field, `${field} has ${needs.length} entries, but at most ${NEED_COUNT_MAX} are allowed.`)
  }
  const bytes = Buffer.byteLength(textOf(needs))
  if (bytes <= NEEDS_BYTES) return needs
  throw invalidInput(
    field,
    `${field} has ${bytes} bytes with a comma between two entries, but at most ${NEEDS_BYTES} are allowed.`,
  )
}

/** Returns the class of executions with these needs, which are in canonical form. */
export function classWithNeeds(
  task: { readonly name: string; readonly version: number | undefined },
  namespace: string,
  needs: readonly string[],
): string {
  return taskClass(task.name, task.version, { namespace, needs: nameOf(needs) })
}

/** Names of indexes have a limited length, so a digest represents long needs. */
function nameOf(needs: readonly string[]): NeedsName | undefined {
  if (needs.length === 0) return undefined
  const text = textOf(needs)
  if (Buffer.byteLength(text) <= CLASS_NEEDS_BYTES) return { text, isDigest: false }
  const digest = createHash('sha256').update(text).digest().subarray(0, DIGEST_BYTES)
  return { text: digest.toString('base64url'), isDigest: true }
}

function textOf(needs: readonly string[]): string {
  return needs.join(NEEDS_SEPARATOR)
}
