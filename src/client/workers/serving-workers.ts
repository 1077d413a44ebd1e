/** Counts the live workers that serve a task, to explain why an execution waits. */
import { EngineError } from '../../kernel/engine-error.ts'
import { LIST_PAGE_MAX, WORKER_TASK_MAX, missingNeeds } from '../../kernel/index.ts'
import type { Explanation, Worker } from '../../kernel/index.ts'
import { STORE_PARTITION } from '../../stores/partitions.ts'
import type { Session } from '../session.ts'

/** Workers of a queue. */
export interface ServingWorkers {
  /** Live workers that serve the namespace, whatever else they serve. */
  readonly liveCount: number
  /** Those with a handler for the task, in the lane and the namespace. */
  readonly handlerCount: number
  /** Those of them with all capabilities that it needs, the slots of these, and the handlers that they run. */
  readonly servingCount: number
  readonly slots: number
  readonly running: number
  /** The needs that none of the workers with a handler has. */
  readonly missing: readonly string[]
}

type Waiting = Pick<
  Extract<Explanation, { why: 'waits_for_worker' }>,
  'task' | 'version' | 'lane' | 'namespace' | 'needs'
>

/** Pages of workers that are examined. With more workers, the answer is not known. */
const PAGES_MAX = 10

/** Returns undefined if it cannot be known: the store has no registry yet, or too many workers. */
export async function servingWorkers(session: Session, waiting: Waiting): Promise<ServingWorkers | undefined> {
  const live = await liveWorkers(session, waiting.namespace)
  if (live === undefined) return undefined
  const candidates = live.filter((worker) => hasHandler(worker, waiting))
  const serving = candidates.filter(
    ({ capabilities }) => missingNeeds(waiting.needs, new Set(capabilities)).length === 0,
  )
  const all = new Set(candidates.flatMap(({ capabilities }) => capabilities))
  return {
    liveCount: live.length,
    handlerCount: candidates.length,
    servingCount: serving.length,
    slots: serving.reduce((sum, { slots }) => sum + slots, 0),
    running: serving.reduce((sum, { runningCount }) => sum + runningCount, 0),
    missing: missingNeeds(waiting.needs, all),
  }
}

function hasHandler({ tasks, lanes }: Worker, { task, version, lane }: Waiting): boolean {
  if (!lanes.includes(lane)) return false
  // A longer list is cut, so the task may be one of those that it lacks.
  if (tasks.length === WORKER_TASK_MAX) return true
  return tasks.some((served) => served.name === task && served.version === version)
}

async function liveWorkers(session: Session, namespace: string): Promise<Worker[] | undefined> {
  const live: Worker[] = []
  let cursor: string | undefined
  for (let page = 0; page < PAGES_MAX; page++) {
    const reply = await session
      .runIn(STORE_PARTITION, 'listWorkers', { limit: LIST_PAGE_MAX, namespace, cursor })
      .catch(unlessMissing)
    if (reply === undefined) return undefined
    live.push(...reply.result.workers.filter(({ state }) => state.phase === 'running'))
    cursor = reply.result.cursor
    if (cursor === undefined) return live
  }
  return undefined
}

function unlessMissing(error: unknown): undefined {
  if (error instanceof EngineError && error.code === 'level_too_low') return undefined
  throw error
}
