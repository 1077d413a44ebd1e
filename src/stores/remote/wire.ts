/**
 * The form of batches of operations between a remote client and its server: the length of the head in four bytes, the head as JSON, and
 * the bytes of all blobs one after the other. The head has their sizes.
 */
import { EngineError } from '../../kernel/engine-error.ts'
import type { ErrorDetail } from '../../kernel/engine-error.ts'

/** Changes when a client of one version cannot use a server of another. */
export const PORT_VERSION = 1
export const PORT_TYPE = 'application/vnd.flowfabric.operations'
export const PORT_PATH = '/v1/operations'
export const WAKES_PATH = '/v1/operations/wakes'

/** The largest batch that a server reads: one operation with its payloads may be larger than the batches of clients. */
export const PORT_BODY_BYTES = 16_777_216
/** Calls in one request at most. */
export const PORT_CALL_MAX = 1_000

export interface WireCall {
  readonly partition: string
  readonly operation: string
  readonly input: object
  /** How many of the blobs belong to it. */
  readonly blobs: number
}

export interface WireRequest {
  readonly version: number
  readonly calls: readonly WireCall[]
}

export interface WireError {
  readonly code: string
  readonly detail?: ErrorDetail | undefined
}

export type WireAnswer =
  { readonly result: unknown; readonly blobs: number; readonly error?: undefined } | { readonly error: WireError }

export interface WireReply {
  readonly answers: readonly WireAnswer[]
  /** The level of the store. */
  readonly level: number
}

const LENGTH_BYTES = 4
const BLOB_MAX = 10_000

const decoder = new TextDecoder('utf-8', { fatal: true })

export function pack(head: WireRequest | WireReply, blobs: readonly Uint8Array[]): Uint8Array {
  const sizes = blobs.map(({ byteLength }) => byteLength)
  const json = Buffer.from(JSON.stringify({ ...head, sizes }))
  const length = Buffer.alloc(LENGTH_BYTES)
  length.writeUInt32BE(json.byteLength)
  return Buffer.concat([length, json, ...blobs])
}

export interface Unpacked {
  readonly head: unknown
  readonly blobs: readonly Uint8Array[]
}

/** Throws `invalid_input` if the bytes do not have the form. */
export function unpack(bytes: Uint8Array): Unpacked {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const start = LENGTH_BYTES + (buffer.byteLength < LENGTH_BYTES ? 0 : buffer.readUInt32BE(0))
  if (buffer.byteLength < start || start === LENGTH_BYTES) throw malformed('It is shorter than its head.')
  const head = parsed(buffer.subarray(LENGTH_BYTES, start))
  const sizes = (head as { readonly sizes?: unknown } | null)?.sizes
  if (!Array.isArray(sizes) || sizes.length > BLOB_MAX) throw malformed('Its head has no list of sizes.')
  const blobs: Uint8Array[] = []
  let at = start
  for (const size of sizes as unknown[]) {
    if (typeof size !== 'number' || !Number.isSafeInteger(size) || size < 0 || at + size > buffer.byteLength) {
      throw malformed('The sizes of its blobs do not fit.')
    }
    blobs.push(new Uint8Array(buffer.buffer, buffer.byteOffset + at, size))
    at += size
  }
  if (at !== buffer.byteLength) throw malformed('Bytes follow its last blob.')
  return { head, blobs }
}

function parsed(json: Uint8Array): unknown {
  try {
    return JSON.parse(decoder.decode(json))
  } catch (cause) {
    throw malformed('Its head is not JSON.', cause)
  }
}

function malformed(what: string, cause?: unknown): EngineError {
  return new EngineError('invalid_input', { field: 'body', message: `The batch is malformed. ${what}` }, { cause })
}
