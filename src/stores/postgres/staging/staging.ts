/** Stages a submit in a caller's transaction. Errors of the transaction are thrown unchanged. */
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
        message: `tx is a transaction in a database without the table ${schema}.inbox. Begin it in the database of the store.`,
      },
      { cause: error },
    )
  }
}

/** The inbox is the only table of that statement. */
function isMissingTable(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === UNDEFINED_TABLE
}
