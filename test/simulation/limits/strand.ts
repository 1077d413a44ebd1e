/** One line of control in a process: it calls the store or sleeps, and the scheduler decides when it continues. */
import type { OperationInput, OperationName, OperationResult } from '../../../src/kernel/index.ts'
import type { Partition } from '../../../src/stores/store.ts'

export interface CallWish {
  readonly kind: 'call'
  readonly partition: Partition
  readonly operation: OperationName
  readonly input: object
  /** The call is given up unless the store serves it soon. */
  readonly isBrief: boolean
}

export type Wish = CallWish | { readonly kind: 'sleep'; readonly ms: number }

export type Steps<R> = Generator<Wish, R, unknown>
export type Strand = Steps<void>

/** A call that is made again until a reply arrives. */
export function* call<N extends OperationName>(
  partition: Partition,
  operation: N,
  input: OperationInput<N>,
): Steps<OperationResult<N>> {
  return (yield { kind: 'call', partition, operation, input, isBrief: false }) as OperationResult<N>
}

/** A call that is only made while it is fresh. Undefined if it was not made; a lost reply is asked for again. */
export function* callSoon<N extends OperationName>(
  partition: Partition,
  operation: N,
  input: OperationInput<N>,
): Steps<OperationResult<N> | undefined> {
  return (yield { kind: 'call', partition, operation, input, isBrief: true }) as OperationResult<N> | undefined
}

export function* sleep(ms: number): Strand {
  yield { kind: 'sleep', ms }
}
