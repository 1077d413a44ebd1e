/** Compares the settings that were fixed at the first use of a store with those of a program. */
import { EngineError } from '../../kernel/engine-error.ts'

export function refuseMismatch(what: string, found: unknown, wanted: unknown): void {
  const [foundText, wantedText] = [JSON.stringify(found), JSON.stringify(wanted)]
  if (foundText === wantedText) return
  throw new EngineError('configuration_mismatch', {
    field: what,
    message: `The store was set up with ${what} ${foundText}, this program asks for ${wantedText}.`,
  })
}

/** Returns the names as they are stored: sorted and without duplicates. */
export function sortedNames(names: readonly string[]): string[] {
  return [...new Set(names)].sort()
}
