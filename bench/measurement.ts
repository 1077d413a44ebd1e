/** What a scenario answers with. */

/** Everything that a reader needs to compare the numbers with others. */
export type Settings = Readonly<Record<string, string | number | boolean>>

export interface Measurement {
  readonly metrics: Readonly<Record<string, number>>
  /** How a metric compares to another way of doing the same work, measured in the same run. */
  readonly ratios: Readonly<Record<string, number>>
  readonly settings: Settings
}
