import { scanner } from '../runner/scanner.ts'
import type { Scanner } from '../runner/scanner.ts'

/** Removes ended executions beyond the number that their tasks keep. Like any retention it is not urgent. */
export const excessTrimmer: Scanner<'excess_trimmer', undefined> = scanner({
  name: 'excess_trimmer',
  // The number is that of all partitions, so one visit looks at all of them.
  families: ['m'],
  isDivided: true,
  everyMs: 60_000,
  scan: async (partition) => {
    const purged = await partition.keepNewest()
    return { counts: { execution_purged: purged.length } }
  },
})
