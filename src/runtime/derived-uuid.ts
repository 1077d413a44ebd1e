/** Ids that follow from a text, so that a repetition finds what the first call has made. */
import { hash } from 'node:crypto'

export interface DerivedUuid {
  /** A UUIDv8 with 122 bits of the SHA-256 of the text. */
  readonly uuid: string
  /** Another 32 bits, evenly distributed. */
  readonly number: number
}

export function derivedUuid(text: string): DerivedUuid {
  const hex = hash('sha256', text)
  const number = parseInt(hex.slice(32, 40), 16)
  const variant = (8 + (parseInt(hex.charAt(16), 16) & 3)).toString(16)
  const uuid = `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`
  return { number, uuid }
}
