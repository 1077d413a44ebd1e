/**
 * Submits staged in the caller's own transaction. Its commit stores them, its rollback discards them, so their outcome is
 * unknown at the time of the submit. Options that depend on the outcome are refused before anything is sent.
 */
import type { ExecutionId } from '../../kernel/index.ts'
import type { Call, Partition, Store, TransactionHandle } from '../../stores/store.ts'
import { invalidInput, show } from '../checks/names.ts'
import type { ParsedSubmit, SubmitOptions } from './submit.ts'

/** The result of a staged submit. */
export interface StagedResult {
  readonly kind: 'staged'
  readonly executionId: ExecutionId
  /** The digest of the input, if the submit joins only the same input. */
  readonly digest: string | undefined
}

/** Options of a staged submit. */
export type StagedSubmitOptions = SubmitOptions & { readonly tx: TransactionHandle }

type Stage = (partition: Partition, call: Call<'createExecution'>) => Promise<void>

/** Returns the function that stages a submit in the transaction of its options; undefined without one. */
export function stagingOf({ tx, ifExists }: Pick<ParsedSubmit, 'tx' | 'ifExists'>, store: Store): Stage | undefined {
  if (tx === undefined) return undefined
  checkTransaction(tx)
  if (ifExists !== undefined && ifExists !== 'join') {
    throw invalidInput(
      'ifExists',
      `ifExists is ${show(ifExists)}, but with tx it can only be 'join' or absent: whether the id exists is known only after the commit.`,
    )
  }
  if (store.stage === undefined) {
    throw invalidInput(
      'tx',
      'tx is supported on Postgres only. On this store, submit after the commit and pass an id, so that a retry is safe.',
    )
  }
  const stage = store.stage.bind(store)
  return (partition, call) => stage(tx, partition, call)
}

function checkTransaction(tx: unknown): void {
  if (typeof tx !== 'object' || tx === null || !('query' in tx) || typeof tx.query !== 'function') {
    throw invalidInput(
      'tx',
      // A text may contain a password.
      `tx is ${typeof tx === 'string' ? 'a text' : show(tx)}, but must be a client of pg, or another object with a method query(text, values).`,
    )
  }
  // A pool runs each statement on any connection, outside the transaction.
  if ('totalCount' in tx && 'idleCount' in tx) {
    throw invalidInput('tx', 'tx is a pool, which has no transaction: pass the client from its connect().')
  }
}
