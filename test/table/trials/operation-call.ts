/** Operations as data, so that they can be run on the kernel directly and through a store. */
import { operations } from '../../../src/kernel/index.ts'
import type { OperationInput, OperationName, Tx } from '../../../src/kernel/index.ts'

export type OperationCall = {
  [N in OperationName]: { readonly operation: N; readonly input: OperationInput<N> }
}[OperationName]

export function perform(tx: Tx, call: OperationCall): { readonly kind: string } {
  const operation = operations[call.operation] as unknown as (tx: Tx, input: object) => { readonly kind: string }
  return operation(tx, call.input)
}
