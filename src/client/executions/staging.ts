/**
 * Submits that are left in a transaction of the caller's own. They are stored with its commit and gone with its rollback,
 * so nobody can say yet what becomes of them: whatever would need an answer is refused before anything is sent.
 */
import type { ExecutionId } from '../../kernel/index.ts'
import type { Call, Partition, Store, TransactionHandle } from '../../stores/store.ts'
import { invalidInput, show } from '../checks/names.ts'
import type { SubmitOptions } from './submit.ts'

/** What a submit answers that was left in a transaction. */
export interface StagedResult {
  readonly kind: 'staged'
  readonly executionId: ExecutionId
}

/** Options with which nothing but a staged submit can be meant. */
export type StagedSubmitOptions = SubmitOptions & { readonly tx: TransactionHandle }

type Stage = (partition: Partition, call: Call<'createExecution'>) => Promise<void>

/** How to leave a submit in the transaction that its options name; undefined if they name none. */
export function stagingOf({ tx, ifExists }: SubmitOptions, store: Store): Stage | undefined {
  if (tx === undefined) return undefined
  checkTransaction(tx)
  if (ifExists !== undefined && ifExists !== 'join') {
    throw invalidInput(
      'ifExists',
      `ifExists is ${show(ifExists)}, but with tx it can only be 'join': whether there is an execution with this id is found out after the commit, when there is nobody left to tell.`,
    )
  }
  if (store.stage === undefined) {
    throw invalidInput(
      'tx',
      'tx is for a store on Postgres, whose database can be that of the transaction. With this store, submit after the commit, with an id of your own: then it can be said again if you do not know whether it was said.',
    )
  }
  const stage = store.stage.bind(store)
  return (partition, call) => stage(tx, partition, call)
}

function checkTransaction(tx: unknown): void {
  if (typeof tx !== 'object' || tx === null || !('query' in tx) || typeof tx.query !== 'function') {
    throw invalidInput(
      'tx',
      // A text may be a location with a password.
      `tx is ${typeof tx === 'string' ? 'a text' : show(tx)}, but must be a client of pg, or another object with a method query(text, values).`,
    )
  }
  // It has a query as well, but runs each statement where it likes: nothing would be gone with a rollback.
  if ('totalCount' in tx && 'idleCount' in tx) {
    throw invalidInput('tx', 'tx is a pool, which has no transaction: pass the client from its connect().')
  }
}
