/** What a worker reports about itself when it registers. */
import { hostname } from 'node:os'
import { WORKER_TASK_MAX } from '../../kernel/index.ts'
import type { WorkerFacts } from '../../kernel/index.ts'
import { packageVersion } from '../../runtime/index.ts'
import { servedVersions } from '../../client/define/task.ts'
import type { ServedTask, WorkerScope } from '../served-task.ts'

interface ReportedSettings {
  readonly workerId: string
  readonly concurrency: number
  readonly leaseTtlMs: number
  readonly livenessTtlMs: number
  readonly lanes: readonly string[] | undefined
}

export function workerFacts(
  scope: WorkerScope,
  settings: ReportedSettings,
  tasks: readonly ServedTask[],
): Omit<WorkerFacts, 'runningCount'> {
  const served = tasks.flatMap(({ name, handler }) => servedVersions(handler).map((version) => ({ name, version })))
  return {
    workerId: settings.workerId,
    namespace: scope.namespace ?? '',
    lanes: settings.lanes ?? [...new Set(tasks.map(({ handler }) => handler.task.policy.lane))],
    tasks: served.slice(0, WORKER_TASK_MAX),
    capabilities: [...scope.capabilities],
    slots: settings.concurrency,
    host: hostname(),
    pid: process.pid,
    version: packageVersion(),
    ttlMs: settings.livenessTtlMs,
    leaseTtlMs: settings.leaseTtlMs,
  }
}
