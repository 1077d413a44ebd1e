/** Lists the schedules of all partitions by name. */
import { SCHEDULE_PAGE_MAX } from '../../kernel/index.ts'
import { executionPartition } from '../../stores/store.ts'
import { shape } from '../../options/shape.ts'
import { checkNamespace, checkPrincipal } from '../checks/names.ts'
import { mergePages, pageOptions } from '../lists/merged-pages.ts'
import type { ListOrder, Page, PageOptions } from '../lists/merged-pages.ts'
import type { Session } from '../session.ts'
import { idCursor } from '../transport/id-cursor.ts'
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

const names = idCursor('s1')

/** By namespace and name, whatever their age. */
const byName: ListOrder = {
  compare: (a, b) => compareText(a.id ?? '', b.id ?? ''),
  encode: ({ id = '' }) => names.encode(id),
  decode: (cursor) => ({ score: 0, id: names.decode(cursor) }),
}

function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
