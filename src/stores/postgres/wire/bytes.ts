/** Bytes of the server without the methods of a buffer, which no other store's bytes have. */
export function bytesOf({ buffer, byteOffset, byteLength }: Buffer): Uint8Array {
  return new Uint8Array(buffer, byteOffset, byteLength)
}
