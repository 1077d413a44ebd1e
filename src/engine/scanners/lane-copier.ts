import type { Position } from '../../kernel/index.ts'
import { scanner } from '../runner/scanner.ts'
import type { Scanner } from '../runner/scanner.ts'

/** Copies the settings of lanes to all execution partitions, if the process that changed them did not. */
export const laneCopier: Scanner<'lane_copier', Position> = scanner({
  name: 'lane_copier',
  families: ['m'],
  isDivided: true,
  everyMs: 60_000,
  scan: async (partition, { from, skip, log }) => {
    const page = await partition.run('listLanes', { isCopying: true, cursor: from })
    const lanes = page.lanes.filter(({ id }) => !skip.includes(id))
    for (const lane of lanes) {
      await partition.copyLane(lane)
      log.info({ lane: lane.id, version: lane.version }, 'copied the settings of a lane')
    }
    return { counts: { lane_copied: lanes.length }, items: lanes.map(({ id }) => id), next: page.cursor }
  },
})
