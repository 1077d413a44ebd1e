/** Defines limits, changes them live, and deletes them. */
import type { Limit, Rate } from '../../model/limit-schema.ts'
import { refused } from '../../results.ts'
import type { Refused } from '../../results.ts'
import type { Tx } from '../../tx.ts'

export interface DefineLimitInput {
  readonly name: string
  readonly rate?: Rate | undefined
  readonly concurrency?: number | undefined
  readonly by?: string | undefined
  /** The definition of a program. It does not apply once an operator has changed or deleted the limit. */
  readonly isDeclared?: boolean | undefined
  readonly reason?: string | undefined
}

export interface DefineLimitResult {
  /** `already_satisfied`: the limit had the same definition. `limit_kept`: an operator has changed or deleted it. */
  readonly kind: 'limit_defined' | 'limit_changed' | 'already_satisfied' | 'limit_kept'
  readonly version: number
}

/** Creates a limit or changes it. A change applies to the next admission of every key. */
export function defineLimit(tx: Tx, input: DefineLimitInput): DefineLimitResult {
  const existing = tx.get('limit_definition', input.name)
  const isManual = input.isDeclared === true ? undefined : true
  if (existing !== undefined && isManual === undefined && isKept(existing)) {
    return { kind: 'limit_kept', version: existing.version }
  }
  // The same values by hand are a change too: later definitions of programs do not apply.
  const isSettled = isManual === undefined || existing?.isManual === true
  if (existing !== undefined && existing.deletedAt === undefined && isSettled && isSame(existing, input)) {
    return { kind: 'already_satisfied', version: existing.version }
  }

  const version = (existing?.version ?? 0) + 1
  tx.put({
    type: 'limit_definition',
    id: input.name,
    rate: input.rate,
    concurrency: input.concurrency,
    version,
    createdAt: existing?.createdAt ?? tx.now,
    changedAt: tx.now,
    changedBy: input.by,
    deletedAt: undefined,
    isManual,
    changeReason: input.reason,
  })
  return { kind: existing === undefined ? 'limit_defined' : 'limit_changed', version }
}

function isKept({ isManual, deletedAt }: Limit): boolean {
  return isManual === true || deletedAt !== undefined
}

function isSame({ rate, concurrency }: Limit, input: DefineLimitInput): boolean {
  if (rate?.count !== input.rate?.count || rate?.windowMs !== input.rate?.windowMs) return false
  return concurrency === input.concurrency
}

export interface DeleteLimitInput {
  readonly name: string
  readonly by?: string | undefined
  readonly reason?: string | undefined
}

export type DeleteLimitResult =
  { readonly kind: 'limit_deleted' | 'limit_already_deleted' } | Refused<'limit_not_found'>

/** Deletes a limit: it limits nothing from now on. Its permits and the usage of its keys are removed in the background. */
export function deleteLimit(tx: Tx, input: DeleteLimitInput): DeleteLimitResult {
  const limit = tx.get('limit_definition', input.name)
  if (limit === undefined) return refused('limit_not_found', { name: input.name })
  if (limit.deletedAt !== undefined) return { kind: 'limit_already_deleted' }

  limit.deletedAt = tx.now
  limit.changedAt = tx.now
  limit.changedBy = input.by
  limit.changeReason = input.reason
  limit.version = limit.version + 1
  tx.put(limit)
  return { kind: 'limit_deleted' }
}
