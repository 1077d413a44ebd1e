import { randomKey } from './random-key.ts'
import { textOf } from './dialog.tsx'

/** A key of the dialog: what is sent again with it has no further effect. */
export function OnceKey() {
  return <input type="hidden" name="once" defaultValue={randomKey()} />
}

export function onceKeyOf(fields: FormData): string {
  return textOf(fields, 'once') ?? randomKey()
}
