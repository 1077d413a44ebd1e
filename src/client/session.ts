/** What every call of a client runs on: the store behind a batcher, the clock, the namespace and the signer of tokens. */
import type { ExecutionId, FlowId, OperationInput, OperationName, Refused } from '../kernel/index.ts'
import type { Runtime } from '../runtime/index.ts'
import type { Batcher, Reply } from '../stores/batcher.ts'
import type { Partition, StoreSettings } from '../stores/store.ts'
import { checkNamespace, invalidInput, show } from './checks/names.ts'
import type { TokenSigner } from './tokens/token.ts'
import { unwrap } from './transport/unwrap.ts'
import { partitionOf, resolveExecutionId, resolveFlowId } from './transport/ids.ts'
import { retryWhileUnavailable } from './transport/retry-unavailable.ts'

export class Session {
  readonly batcher: Batcher
  readonly runtime: Runtime
  readonly namespace: string
  readonly tokens: TokenSigner
  /** The namespace that calls cannot leave; undefined for a tool of operators. */
  readonly within: string | undefined
  /** Whether it gets events that belong to no namespace, such as those of lanes and budgets. */
  readonly isStoreVisible: boolean

  constructor(
    batcher: Batcher,
    runtime: Runtime,
    namespace: string,
    tokens: TokenSigner,
    within?: string,
    isStoreVisible = true,
  ) {
    this.batcher = batcher
    this.runtime = runtime
    this.namespace = namespace
    this.tokens = tokens
    this.within = within
    this.isStoreVisible = isStoreVisible
  }

  get settings(): StoreSettings {
    return this.batcher.store.settings
  }

  /** Returns the execution that an id or a key names. */
  resolve(idOrKey: string): ExecutionId {
    return resolveExecutionId(idOrKey, this.namespace, this.settings.executionPartitions)
  }

  /** Returns the flow that an id or a key names. */
  resolveFlow(idOrKey: string): FlowId {
    return resolveFlowId(idOrKey, this.namespace, this.settings.executionPartitions)
  }

  /** Runs one operation of the kernel in the partition that the id names. Retries while the store is unavailable. */
  run<N extends OperationName>(
    id: ExecutionId | FlowId,
    operation: N,
    input: OperationInput<N>,
    blobs?: readonly Uint8Array[],
  ): Promise<Reply<N>> {
    return this.runIn(partitionOf(id), operation, input, blobs)
  }

  runIn<N extends OperationName>(
    partition: Partition,
    operation: N,
    input: OperationInput<N>,
    blobs?: readonly Uint8Array[],
  ): Promise<Reply<N>> {
    const bounded = this.within === undefined ? input : { ...input, within: this.within }
    return retryWhileUnavailable(this.runtime, () => this.batcher.run(partition, operation, bounded, blobs))
  }

  /** Returns the namespace that a listing covers: the wanted one, else the one of the session. Undefined covers all. */
  listed(wanted: string | undefined): string | undefined {
    if (wanted === undefined) return this.within
    checkNamespace(wanted)
    if (this.within === undefined || wanted === this.within) return wanted
    throw invalidInput('namespace', `namespace is ${show(wanted)}, but this fabric is bound to ${show(this.within)}.`)
  }
}

type AnyCall = (session: Session, ...rest: never[]) => unknown

/** Functions over a session, as methods of an object that has the session. */
export type Bound<Calls> = {
  readonly [K in keyof Calls]: Calls[K] extends (session: Session, ...rest: infer Rest) => infer Result
    ? (...rest: Rest) => Result
    : never
}

export function bind<Calls extends Readonly<Record<string, AnyCall>>>(calls: Calls, session: Session): Bound<Calls> {
  const bound = Object.entries(calls).map(([name, call]) => [name, call.bind(undefined, session)])
  return Object.fromEntries(bound) as Bound<Calls>
}

/** The calls that return a union, with refusals thrown instead. */
export type Throwing<Calls> = {
  readonly [K in keyof Calls as Calls[K] extends Call<never[]> ? K : never]: Calls[K] extends Call<infer Rest, infer R>
    ? (...rest: Rest) => Promise<Exclude<R, Refused>>
    : never
}

type Call<Rest extends readonly unknown[], R extends { readonly kind: string } = { readonly kind: string }> = (
  ...rest: Rest
) => Promise<R>

/** Throws the refusals of all calls, and whatever `check` throws before a call. */
export function throwing<Calls extends object>(calls: Calls, check: () => void): Throwing<Calls> {
  const wrapped = Object.entries(calls).map(([name, call]: [string, Call<unknown[]>]) => [
    name,
    async (...rest: unknown[]) => {
      check()
      return unwrap(await call(...rest))
    },
  ])
  return Object.fromEntries(wrapped) as Throwing<Calls>
}
