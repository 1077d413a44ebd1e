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

/**
 * The same while a server is restarted, promoted or loads its data: it closes its connections then, or refuses to answer. A look
 * that fails is repeated, and the error at the limit has the last failure as its cause.
 */
export async function untilAnswered<T>(
  waitingFor: string,
  limitMs: number,
  look: () => Promise<T | undefined>,
): Promise<T> {
  let failure: unknown
  const tryToLook = async (): Promise<T | undefined> => {
    try {
      return await look()
    } catch (error) {
      failure = error
      return undefined
    }
  }
  return await until(waitingFor, limitMs, tryToLook).catch((error: unknown) => {
    throw failure === undefined ? error : new Error(messageOf(error), { cause: failure })
  })
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
