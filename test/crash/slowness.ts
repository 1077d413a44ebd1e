/** How much slower than alone this process runs. A worker that gets a small share of a core loses leases that are too short for it. */

/** Enough to be interrupted by others several times. */
const MEASURED_CPU_MS = 60
/** Keeps the tests within their limits. */
const SLOWNESS_MAX = 5

/** The time that passes per time on a core: 1 on an idle machine. */
function measureSlowness(): number {
  const startedAt = performance.now()
  const before = process.cpuUsage()
  let cpuMs = 0
  while (cpuMs < MEASURED_CPU_MS) {
    const { user, system } = process.cpuUsage(before)
    cpuMs = (user + system) / 1_000
  }
  return Math.min(SLOWNESS_MAX, Math.max(1, (performance.now() - startedAt) / cpuMs))
}

const slowness = measureSlowness()

/** A time that is meant for an idle machine, as long as this machine needs it to be. */
export function atThisPace(idleMs: number): number {
  return Math.round(idleMs * slowness)
}
