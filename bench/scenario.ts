/** What a scenario is: a load, run a few times against one store, that answers with numbers. */
import type { BenchStore } from './bench-store.ts'
import type { Measurement } from './measurement.ts'
import type { ScenarioOptions } from './options.ts'

export interface ScenarioRequest {
  readonly store: BenchStore
  /** How much of it, in the scenario's own unit; undefined means the scenario's own number. */
  readonly count: number | undefined
  /** Only those that the scenario declares. */
  readonly options: ScenarioOptions
  /** Rounds that are measured, after the warm-up; undefined means the scenario's own number. */
  readonly rounds: number | undefined
  /** Reports progress to the user. */
  readonly say: (line: string) => void
}

export interface Scenario {
  /** One sentence: what is done, and what the numbers mean. */
  readonly summary: string
  readonly run: (request: ScenarioRequest) => Promise<Measurement>
}
