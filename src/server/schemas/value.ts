/** Values of users: JSON as it is, bytes in base64 under a name of their own. */
import { z } from 'zod'
import { EngineError } from '../../kernel/engine-error.ts'
import { invalidInput } from '../../options/invalid-input.ts'

/** Returns the fields of a stored value; none for an absent one. */
export function valueFields<const Name extends string>(
  name: Name,
  value: unknown,
): { readonly [K in Name | `${Name}Bytes`]?: K extends Name ? unknown : string } {
  const fields: Record<string, unknown> =
    value === undefined
      ? {}
      : value instanceof Uint8Array
        ? { [`${name}Bytes`]: Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('base64') }
        : { [name]: value }
  return fields as ReturnType<typeof valueFields<Name>>
}

/** Marks an answer from which values were left out. */
export const valuesWithheld = {
  valuesWithheld: z
    .literal(true)
    .optional()
    .describe('Values were left out, because the server withholds them from viewers.'),
}

/** Returns the fields of the mark. */
export function withheld(seesValues: boolean): { readonly valuesWithheld?: true } {
  return seesValues ? {} : { valuesWithheld: true }
}

/** Refuses a caller that asks for values which are withheld from it. */
export function refuseUnlessSeen(seesValues: boolean): void {
  if (seesValues) return
  throw new EngineError('forbidden', { message: 'The server withholds the values of users from viewers.' })
}

/** Returns the value that a request gives in one of the two forms. */
export function valueOf(name: string, json: unknown, base64: string | undefined): unknown {
  if (base64 === undefined) return json
  if (json === undefined) return new Uint8Array(Buffer.from(base64, 'base64'))
  throw invalidInput(name, `${name} and ${name}Bytes are both given: leave one out.`)
}

/** Values by name: those that are JSON, and the others in base64. Absent ones are left out. */
export function splitValues(values: Readonly<Record<string, unknown>>): {
  readonly json: Readonly<Record<string, unknown>>
  readonly bytes: Readonly<Record<string, string>> | undefined
} {
  const all = Object.entries(values).filter(([, value]) => value !== undefined)
  const bytes = all.flatMap(([name, value]) =>
    value instanceof Uint8Array ? [[name, Buffer.from(value).toString('base64')] as const] : [],
  )
  return {
    json: Object.fromEntries(all.filter(([, value]) => !(value instanceof Uint8Array))),
    bytes: bytes.length === 0 ? undefined : Object.fromEntries(bytes),
  }
}
