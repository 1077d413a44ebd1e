/** Waiting for what a server does in its own time. */
import { setTimeout as sleep } from 'node:timers/promises'

const LOOK_EVERY_MS = 25

/** Looks until there is an answer. `waitingFor` names the condition in the error. */
export async function until<T>(waitingFor: string, limitMs: number, look: () => Promise<T | undefined>): Promise<T> {
  const endsAt = performance.now() + limitMs
  while (true) {
    const found = await look()
    if (found !== undefined) return found
    if (performance.now() > endsAt) throw new Error(`Within ${limitMs} ms this did not happen: ${waitingFor}.`)
    await sleep(LOOK_EVERY_MS)
  }
}
