/** Lists the workers that are registered in the store, as operators and programs may see them. */
import { LIST_PAGE_MAX } from '../../kernel/index.ts'
import type { Instant, Worker } from '../../kernel/index.ts'
import { shape, wholeNumber } from '../../options/shape.ts'
import { STORE_PARTITION } from '../../stores/partitions.ts'
import { checkNamespace } from '../checks/names.ts'
import type { Session } from '../session.ts'
import { idCursor } from '../transport/id-cursor.ts'

export interface WorkerInfo {
  /** One process. Leases and events name it. */
  readonly instanceId: string
  /** The name of the worker, which several processes may share. */
  readonly workerId: string
  /** The namespace that it serves; undefined: all. */
  readonly namespace: string | undefined
  /**
   * `running` claims executions; `draining` finishes what it has. `lost` sends no heartbeats, and `dead` was declared dead: both
   * are listed for ten minutes.
   */
  readonly state: Worker['state']['phase']
  /** Why an operator declared it dead. */
  readonly reason: string | undefined
  readonly lanes: readonly string[]
  /** The tasks that it serves, each with a version, or without one. */
  readonly tasks: Worker['tasks']
  readonly capabilities: readonly string[]
  /** How many handlers it runs at once, and how many run now. */
  readonly slots: number
  readonly running: number
  readonly host: string
  readonly pid: number
  /** The version of the library; of the program of a worker over HTTP. */
  readonly version: string
  readonly startedAt: Instant
  readonly heartbeatAt: Instant
  /** Set once an operator has asked it to drain. */
  readonly drain:
    { readonly at: Instant; readonly by: string | undefined; readonly reason: string | undefined } | undefined
}

export interface ListWorkersOptions {
  /** At most this many; 200 unless given. */
  readonly limit?: number
  readonly cursor?: string
  readonly namespace?: string
}

export interface WorkerPage {
  readonly items: readonly WorkerInfo[]
  /** Where the next page starts. A short page may have one too. */
  readonly cursor: string | undefined
}

const byInstance = idCursor('k1')

const listOptions = shape<ListWorkersOptions>()('{ limit: 20 }', {
  limit: wholeNumber(1, LIST_PAGE_MAX),
  cursor: byInstance.decode,
  namespace: checkNamespace,
})

/** Lists workers in the order of their instance ids. */
export async function listWorkers(session: Session, options: ListWorkersOptions): Promise<WorkerPage> {
  const { limit = LIST_PAGE_MAX, cursor, namespace } = listOptions(options)
  const input = { limit, namespace: session.listed(namespace), cursor }
  const { result } = await session.runIn(STORE_PARTITION, 'listWorkers', input)
  return { items: result.workers.map(summarise), cursor: result.cursor && byInstance.encode(result.cursor) }
}

function summarise(worker: Worker): WorkerInfo {
  const { id, workerId, namespace, state, lanes, tasks, capabilities, slots, runningCount } = worker
  const { host, pid, version, startedAt, heartbeatAt, drain } = worker
  return {
    instanceId: id,
    workerId,
    namespace: namespace === '' ? undefined : namespace,
    state: state.phase,
    reason: state.phase === 'dead' ? state.reason : undefined,
    lanes,
    tasks,
    capabilities,
    slots,
    running: runningCount,
    host,
    pid,
    version,
    startedAt,
    heartbeatAt,
    drain,
  }
}
