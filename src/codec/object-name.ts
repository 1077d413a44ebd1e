/**
 * The names of offloaded values: the execution or the flow whose removal removes the value, the execution that the value belongs to if
 * that is another one, the hash of the bytes, and a part that no other object has. So an object is written by one call alone, and an
 * object that a sweep has found without an owner is not written again.
 */
import { createHash } from 'node:crypto'
import { secretBytes } from '../runtime/index.ts'
import type { ValueContext } from './value-codec.ts'

const UNIQUE_BYTES = 16
const NAME = /^([a-z]*[0-9]+-[0-9a-f-]+)(?:\/([a-z]*[0-9]+-[0-9a-f-]+))?\/([0-9a-f]{64})-[0-9a-f]{32}$/

export interface ObjectName {
  /** The execution or the flow whose removal removes the object. */
  readonly owner: string
  /** The execution or the flow that the value belongs to. */
  readonly subject: string
  /** SHA-256 of the bytes. */
  readonly hash: string
}

/** Returns undefined if a sweep could not decide when the object may be removed. */
export function nameObject(bytes: Uint8Array, { binding, owner }: ValueContext): string | undefined {
  if (owner === undefined) return undefined
  const subject = subjectOf(binding)
  const folder = subject === undefined || subject === owner ? owner : `${owner}/${subject}`
  return `${folder}/${hashOf(bytes)}-${secretBytes(UNIQUE_BYTES).toString('hex')}`
}

/** Returns undefined for what is not the name of an offloaded value. */
export function parseObjectName(name: string): ObjectName | undefined {
  const [, owner, subject = owner, hash] = NAME.exec(name) ?? []
  return owner === undefined || subject === undefined || hash === undefined ? undefined : { owner, subject, hash }
}

/** Bindings are the kind of a record, its id and its part. */
export function subjectOf(binding: string): string | undefined {
  return binding.split(' ')[1]
}

export function hashOf(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex')
}
