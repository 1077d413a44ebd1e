/** What the lanes of a store have waiting and running, what operators have set for them, and how fast they move. */
import { boolean, shape } from '../../options/shape.ts'
import { DEFAULT_NAMESPACE, parseClass, parseLaneSettingsId } from '../../kernel/index.ts'
import type { Lane, LaneHold, LaneLimit, Position, PublicState } from '../../kernel/index.ts'
import { ADMISSION_LEVEL } from '../../stores/level/store-level.ts'
import { STORE_PARTITION, partitionsOf } from '../../stores/partitions.ts'
import { checkLane } from '../checks/names.ts'
import type { Session } from '../session.ts'
import { laneStatus } from './lane-handle.ts'
import type { LaneStatus } from './lane-handle.ts'
import { readRates } from './lane-rates.ts'
import type { LaneRates } from './lane-rates.ts'

export interface LaneSummary {
  readonly lane: string
  /** Those of the namespaces that the fabric reaches. */
  readonly tasks: readonly string[]
  /** The executions of all namespaces: a lane belongs to the store. */
  readonly counts: Readonly<Partial<Record<PublicState, number>>>
  /** Since when the executions wait that are claimed next, by the store's clock; absent if none is ready. */
  readonly waitingSince: number | undefined
  readonly state: LaneStatus['state']
  /** Who holds the lane, since when, and why. */
  readonly hold: LaneHold | undefined
  /** The tasks that are held while the lane is not. */
  readonly heldTasks: LaneStatus['tasks']
  readonly weight: number | undefined
  /** What limits the executions of the namespace of the fabric together. */
  readonly limit: LaneLimit | undefined
  /** The limits of other namespaces, for a fabric that is bound to none. */
  readonly otherLimits: readonly NamespaceLimit[]
  /** Only if asked for. */
  readonly rates?: LaneRates
}

export interface NamespaceLimit extends LaneLimit {
  readonly namespace: string
}

export interface LanesOptions {
  /** Whether to read from the event log how many executions came and ended in the last minute. */
  readonly rates?: boolean
}

const lanesOptions = shape<LanesOptions>()('{ rates: true }', { rates: boolean })

/** Steps per partition when counting, of 200 queues each. */
const COUNT_STEPS_MAX = 50
/** Steps when listing settings, of 100 lanes each. */
const SETTINGS_STEPS_MAX = 100

/** What is set for a lane, as far as the fabric may see it. */
interface Settings {
  status: LaneStatus | undefined
  limit: LaneLimit | undefined
  readonly otherLimits: NamespaceLimit[]
}

interface Counted {
  readonly tasks: Set<string>
  readonly counts: Partial<Record<PublicState, number>>
  waitingSince: number | undefined
}

export async function listLanes(
  session: Session,
  lane: string | undefined,
  options: LanesOptions,
): Promise<LaneSummary[]> {
  if (lane !== undefined) checkLane(lane)
  const { rates: wantsRates = false } = lanesOptions(options)
  const [counted, settings, rates] = await Promise.all([
    countLanes(session, lane),
    readSettings(session),
    wantsRates ? readRates(session) : undefined,
  ])
  const names = [...new Set([...counted.keys(), ...settings.keys()])].filter(
    (name) => lane === undefined || name === lane,
  )
  return names.sort().map((name) => {
    const { tasks, counts, waitingSince } = counted.get(name) ?? newCount()
    const { status, limit, otherLimits = [] } = settings.get(name) ?? {}
    const { state = 'active', hold, tasks: heldTasks = [], weight } = status ?? {}
    const summary = {
      lane: name,
      tasks: [...tasks].sort(),
      counts,
      waitingSince,
      state,
      hold,
      heldTasks,
      weight,
      limit,
      otherLimits,
    }
    return rates === undefined ? summary : { ...summary, rates: rates.get(name) ?? { inPerMinute: 0, outPerMinute: 0 } }
  })
}

async function countLanes(session: Session, lane: string | undefined): Promise<Map<string, Counted>> {
  const lanes = new Map<string, Counted>()
  for (const partition of partitionsOf(session.settings, ['fp'])) {
    let cursor: Position | undefined
    for (let step = 0; step < COUNT_STEPS_MAX; step++) {
      const { result } = await session.runIn(partition, 'countExecutions', { lane, cursor })
      for (const found of result.lanes) {
        const sum = lanes.get(found.lane) ?? newCount()
        for (const { task, namespace } of found.classes.map(parseClass)) {
          if (session.within === undefined || session.within === namespace) sum.tasks.add(task)
        }
        for (const { state, count } of found.counts) sum.counts[state] = (sum.counts[state] ?? 0) + count
        sum.waitingSince = earlier(sum.waitingSince, found.waitingSince)
        lanes.set(found.lane, sum)
      }
      cursor = result.cursor
      if (cursor === undefined) break
    }
  }
  // A lane that only others use is not listed.
  for (const [name, { tasks }] of lanes) if (tasks.size === 0) lanes.delete(name)
  return lanes
}

function newCount(): Counted {
  return { tasks: new Set(), counts: {}, waitingSince: undefined }
}

function earlier(a: number | undefined, b: number | undefined): number | undefined {
  if (a === undefined || b === undefined) return a ?? b
  return Math.min(a, b)
}

/** A store of an earlier level has no settings of lanes. */
async function readSettings(session: Session): Promise<Map<string, Settings>> {
  const found = new Map<string, Settings>()
  if (session.batcher.store.level < ADMISSION_LEVEL) return found
  let cursor: Position | undefined
  for (let step = 0; step < SETTINGS_STEPS_MAX; step++) {
    const { result } = await session.runIn(STORE_PARTITION, 'listLanes', { cursor })
    for (const lane of result.lanes) addSettings(found, lane, session)
    cursor = result.cursor
    if (cursor === undefined) break
  }
  return found
}

/** Adds one record: the settings of a lane for all namespaces with the limit of the default one, or the limit of another. */
function addSettings(found: Map<string, Settings>, record: Lane, { namespace: own, within }: Session): void {
  const { namespace, lane } = parseLaneSettingsId(record.id)
  const { limit, hold, tasks, weight } = record
  const isShared = namespace === DEFAULT_NAMESPACE && (hold !== undefined || tasks.length > 0 || weight !== undefined)
  const isVisible = namespace === own || within === undefined
  // A lane that only others have limited is not listed.
  if (!isShared && !(isVisible && limit !== undefined)) return
  const settings = found.get(lane) ?? { status: undefined, limit: undefined, otherLimits: [] }
  found.set(lane, settings)
  if (isShared) settings.status = laneStatus(record)
  if (namespace === own) settings.limit = limit
  else if (isVisible && limit !== undefined) settings.otherLimits.push({ namespace, ...limit })
}
