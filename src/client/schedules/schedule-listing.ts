/** Lists the schedules of all partitions by name. */
import { SCHEDULE_PAGE_MAX } from '../../kernel/index.ts'
import type { Position } from '../../kernel/index.ts'
import { EngineError } from '../../kernel/engine-error.ts'
import { executionPartition } from '../../stores/store.ts'
import { shape } from '../../options/shape.ts'
import { checkNamespace, checkPrincipal } from '../checks/names.ts'
import { mergePages, pageOptions } from '../lists/merged-pages.ts'
import type { ListOrder, Page, PageOptions } from '../lists/merged-pages.ts'
import type { Session } from '../session.ts'
import { summariseSchedule } from './schedule-description.ts'
import type { ScheduleSummary } from './schedule-description.ts'
import { refuseLowLevel } from './schedule-place.ts'

export interface ListSchedulesOptions extends PageOptions {
  readonly namespace?: string | undefined
  /** Only those that this owner has declared in code. */
  readonly owner?: string | undefined
}

export type SchedulePage = Page<ScheduleSummary>

const listOptions = shape<ListSchedulesOptions>()('{ limit: 20 }', {
  ...pageOptions.checks,
  namespace: checkNamespace,
  owner: checkPrincipal,
})

/** The position of a schedule in the list. */
interface Placed extends ScheduleSummary {
  readonly id: string
}

export async function listSchedules(session: Session, options: ListSchedulesOptions): Promise<SchedulePage> {
  refuseLowLevel(session)
  const { limit, cursor, namespace, owner } = listOptions(options)
  const listed = session.listed(namespace)
  const page = await mergePages<Placed & { readonly createdAt: number }>(
    session.settings.executionPartitions,
    { limit, cursor },
    async (partition, count, from) => {
      const input = { limit: Math.min(count, SCHEDULE_PAGE_MAX), cursor: from?.id, namespace: listed, owner }
      const { result } = await session.runIn(executionPartition(partition), 'listSchedules', input)
      return {
        items: result.schedules.map((schedule) => ({ ...summariseSchedule(schedule), id: schedule.id })),
        cursor: result.cursor === undefined ? undefined : { score: 0, id: result.cursor },
      }
    },
    byName,
  )
  return { items: page.items.map(({ id: _id, ...summary }) => summary), cursor: page.cursor }
}

const CURSOR_FORM = /^s1\.([A-Za-z0-9_-]+)$/

/** By namespace and name, whatever their age. */
const byName: ListOrder = {
  compare: (a, b) => compareText(a.id ?? '', b.id ?? ''),
  encode: ({ id = '' }) => `s1.${Buffer.from(id).toString('base64url')}`,
  decode: (cursor): Position => {
    const match = typeof cursor === 'string' ? CURSOR_FORM.exec(cursor) : null
    if (match === null) throw new EngineError('invalid_cursor', { field: 'cursor' })
    return { score: 0, id: Buffer.from(match[1] ?? '', 'base64url').toString() }
  },
}

function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
