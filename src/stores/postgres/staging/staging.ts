/** Runs the statement that stages a submit in the transaction of somebody else. Its errors are theirs, and stay as they are. */
import { EngineError } from '../../../kernel/engine-error.ts'
import type { TransactionHandle } from '../../store.ts'

const UNDEFINED_TABLE = '42P01'

export async function stageIn(
  tx: TransactionHandle,
  { text, values }: { readonly text: string; readonly values: readonly unknown[] },
  schema: string,
): Promise<void> {
  try {
    await tx.query(text, [...values])
  } catch (error) {
    if (!isMissingTable(error)) throw error
    throw new EngineError(
      'invalid_input',
      {
        field: 'tx',
        message: `tx is a transaction in a database that has no table ${schema}.inbox: it must be in the database of the store.`,
      },
      { cause: error },
    )
  }
}

/** Of that statement only the inbox can be missing. */
function isMissingTable(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === UNDEFINED_TABLE
}
