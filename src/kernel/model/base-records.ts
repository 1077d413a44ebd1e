/** What records are made of everywhere: ids, instants, what is known of stored bytes, and failures. */

declare const brand: unique symbol

/** Milliseconds since the epoch, by the store's clock. */
export type Instant = number

/** `<partition>-<uuid>`: the id says where the execution lives. */
export type ExecutionId = string & { readonly [brand]: 'ExecutionId' }

/** `f<partition>-<uuid>`: a flow lives in one partition, together with all its members. */
export type FlowId = string & { readonly [brand]: 'FlowId' }

export type PayloadEncoding = 'json' | 'bytes'

/** What the record knows of bytes that are stored beside it. */
export interface BlobInfo {
  readonly size: number
  readonly encoding: PayloadEncoding
}

export interface Failure {
  category: string
  message: string
  stack: string | undefined
  at: Instant
}
