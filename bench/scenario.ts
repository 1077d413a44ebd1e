/** What a scenario is: a load, run a few times against one store, that answers with numbers. */
import type { BenchStore } from './bench-store.ts'

export interface ScenarioRequest {
  readonly store: BenchStore
  /** Executions in one round; undefined means the scenario's own number. */
  readonly count: number | undefined
  /** Rounds that are measured, after the warm-up; undefined means the scenario's own number. */
  readonly rounds: number | undefined
  /** Tells a waiting person how far the work has come. */
  readonly say: (line: string) => void
}

/** Everything that somebody needs to know to compare the numbers with others. */
export type Settings = Readonly<Record<string, string | number | boolean>>

export interface Measurement {
  readonly metrics: Readonly<Record<string, number>>
  /** How a metric compares to another way of doing the same work, measured in the same run. */
  readonly ratios: Readonly<Record<string, number>>
  readonly settings: Settings
}

export interface Scenario {
  /** One sentence: what is done, and what the numbers say. */
  readonly summary: string
  readonly run: (request: ScenarioRequest) => Promise<Measurement>
}
