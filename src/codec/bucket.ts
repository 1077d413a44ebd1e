/** Where offloaded values are: a folder, an S3-compatible bucket, or anything with these calls. */

export interface BucketObject {
  readonly name: string
  /** When it was written last. */
  readonly at: number
}

/** Names consist of letters, digits, dashes, dots and slashes. */
export interface Bucket {
  /** Resolves once the object is durable. A call that failed is made again with the same bytes. */
  put(name: string, bytes: Uint8Array): Promise<void>
  /** Returns undefined if there is no such object. Rejects if that is unknown. */
  get(name: string): Promise<Uint8Array | undefined>
  /** Removes an object. No-op if there is none. */
  remove(name: string): Promise<void>
  /** All objects, in any order. */
  list(): AsyncIterable<BucketObject>
}
