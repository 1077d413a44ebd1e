/** How much was simulated, over many worlds. */
import type { World } from './world.ts'

export class Tally {
  readonly #startedAt = performance.now()
  readonly #faults = new Map<string, number>()
  worldCount = 0
  stepCount = 0
  callCount = 0
  executionCount = 0

  add({ stepCount, network, faultCounts, witness }: World): void {
    this.worldCount += 1
    this.stepCount += stepCount
    this.callCount += network.servedCount
    this.executionCount += witness.acceptances.length
    for (const [name, count] of Object.entries(faultCounts)) this.#faults.set(name, this.faultCount(name) + count)
  }

  faultCount(name: string): number {
    return this.#faults.get(name) ?? 0
  }

  text(): string {
    const seconds = (performance.now() - this.#startedAt) / 1_000
    const faults = [...this.#faults].sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, count]) => `${name} ${count}`)
    return [
      `${this.worldCount} worlds, ${this.stepCount} steps in ${seconds.toFixed(1)} s (${Math.round(this.stepCount / seconds)} a second)`,
      `${this.callCount} calls served, ${this.executionCount} submits accepted`,
      `faults: ${faults.join(', ')}`,
    ].join('\n')
  }
}
