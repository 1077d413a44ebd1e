/** Formats the result of raising the level of a store. */
import { LAPSES_AFTER_MS } from '../../stores/level/level-place.ts'
import type { LevelMigration } from '../../stores/level/raise-level.ts'
import { table } from './table.ts'

/** The most processes that are shown; `--json` shows all. */
const ROWS_MAX = 20

/** Empty if the level is up to date. */
export function levelText({ kind, from, to, heldBackBy }: LevelMigration): string {
  switch (kind) {
    case 'up_to_date':
      return ''
    case 'raised':
      return `Level ${from} has become ${to}.`
    case 'pending':
      return `Level ${from} would become ${to}.`
    case 'held_back': {
      const shown = heldBackBy.slice(0, ROWS_MAX)
      const rows = shown.map(({ processId, host, pid, version, levelMin, levelMax }) => [
        processId,
        host,
        String(pid),
        version,
        `${levelMin} to ${levelMax}`,
      ])
      const left = heldBackBy.length - shown.length
      return [
        `The level stays ${from}: these processes do not support level ${to}.`,
        table([['PROCESS', 'HOST', 'PID', 'VERSION', 'LEVELS'], ...rows], { alignRight: [2] }),
        ...(left > 0 ? [`And ${left} more: with --json every process is shown.`] : []),
        'Upgrade or stop them, then run the command again. ' +
          `A process that was killed is forgotten after ${LAPSES_AFTER_MS / 1_000} s.`,
      ].join('\n')
    }
  }
}
