import fc from 'fast-check'

/** How an event log is read and trimmed after a sequence. */
export interface LogReading {
  /** How much older than the end of the sequence an event must be to be dropped. */
  readonly olderThanMs: number
  readonly keepCount: number
  readonly after: number
  readonly limit: number
}

export const anyLogReading: fc.Arbitrary<LogReading> = fc.record({
  olderThanMs: fc.constantFrom(-1, 0, 1, 5_000, 60_000),
  keepCount: fc.constantFrom(0, 1, 10, 1_000),
  after: fc.constantFrom(0, 3, 20, 1_000),
  limit: fc.constantFrom(1, 10, 1_000),
})
