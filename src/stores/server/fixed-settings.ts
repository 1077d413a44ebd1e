/** What is fixed when a store on a server is first used, compared with what a program asks for. */
import { EngineError } from '../../kernel/engine-error.ts'

export function refuseOther(what: string, found: unknown, wanted: unknown): void {
  const [foundText, wantedText] = [JSON.stringify(found), JSON.stringify(wanted)]
  if (foundText === wantedText) return
  throw new EngineError('configuration_mismatch', {
    field: what,
    message: `The store was set up with ${what} ${foundText}, this program asks for ${wantedText}.`,
  })
}

/** Names in the order in which they are stored, each once. */
export function sorted(names: readonly string[]): string[] {
  return [...new Set(names)].sort()
}
