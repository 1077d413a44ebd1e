/** Ways of putting load on something: so many at a time, or so many per second. */
import { setTimeout as sleep } from 'node:timers/promises'

/** Does the work `count` times with at most `inFlight` under way, each begun as soon as another has ended. */
export async function withInFlight(
  count: number,
  inFlight: number,
  work: (number: number) => Promise<unknown>,
): Promise<void> {
  let next = 0
  const follow = async () => {
    while (next < count) await work(next++)
  }
  await Promise.all(Array.from({ length: inFlight }, follow))
}

/** Begins the work at fixed moments, whether or not what was begun before has ended, and waits for all of it. */
export async function atRate(
  count: number,
  perSecond: number,
  work: (number: number) => Promise<unknown>,
): Promise<void> {
  const startedAt = performance.now()
  const begun: Promise<unknown>[] = []
  for (let number = 0; number < count; number++) {
    const waitMs = startedAt + (number * 1_000) / perSecond - performance.now()
    if (waitMs > 0) await sleep(waitMs)
    begun.push(work(number))
  }
  await Promise.all(begun)
}

/** How long something took, in milliseconds. */
export async function timed(work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now()
  await work()
  return performance.now() - startedAt
}

export function perSecond(count: number, elapsedMs: number): number {
  return (count * 1_000) / elapsedMs
}
