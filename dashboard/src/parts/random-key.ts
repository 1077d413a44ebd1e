/**
 * Makes a key that distinguishes a request from all others. `crypto.randomUUID` is missing on a page that was loaded over plain HTTP
 * under another name than localhost.
 */
export function randomKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16))
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
}
