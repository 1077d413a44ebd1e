import type { Position } from '../../kernel/index.ts'
import { countCases, scanner } from '../runner/scanner.ts'
import type { Scanner } from '../runner/scanner.ts'

/** How long after a timer the sweep looks: the due pass makes the worker lost first. */
const AFTER_EXPIRY_MS = 50
/** How soon it looks again while a lapsed worker is not marked as lost yet. */
const STILL_DUE_MS = 1_000

/**
 * Revokes the leases of lost and dead workers, so that their executions run again before the leases expire. Leases that were
 * renewed since the last heartbeat of a lost worker are kept.
 */
export const workerSweep: Scanner<'worker_sweep', Position> = scanner({
  name: 'worker_sweep',
  families: ['m'],
  isDivided: true,
  everyMs: 60_000,
  followsTimers: true,
  scan: async (partition, { from, log }) => {
    const cursor = from?.id === undefined ? undefined : { score: from.score, id: from.id }
    const page = await partition.run('listUnsweptWorkers', { cursor })
    const swept: string[] = []
    for (const worker of page.workers) {
      const revoked = await partition.sweepWorker(worker)
      const { workerInstanceId, workerId, reason } = worker
      log.info({ workerId, workerInstanceId, reason, revoked: revoked.length }, 'revoked the leases of a worker')
      swept.push('worker_swept', ...revoked.map(() => 'lease_revoked'))
    }
    const { nextDueAt, at } = page
    return {
      counts: countCases(swept),
      next: page.cursor,
      nextDueAt: nextDueAt === undefined ? undefined : Math.max(nextDueAt + AFTER_EXPIRY_MS, at + STILL_DUE_MS),
      at,
    }
  },
})
