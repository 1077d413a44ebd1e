/** Makes the schedules of a store match those that code declares. */
import { invalidInput, show } from '../checks/names.ts'
import { isScheduleDefinition } from '../define/schedule.ts'
import type { ScheduleDefinition } from '../define/schedule.ts'
import type { Session } from '../session.ts'
import { configureSchedule } from './configure-schedule.ts'
import { listSchedules } from './schedule-listing.ts'
import { placeOf } from './schedule-place.ts'

export interface DeclaredSchedules {
  readonly created: readonly string[]
  readonly changed: readonly string[]
  readonly deleted: readonly string[]
}

/**
 * Creates and changes the declared schedules. With an owner, also deletes those that the owner has declared before and declares no
 * more, and no others.
 */
export async function declareSchedules(
  session: Session,
  definitions: readonly ScheduleDefinition[],
  owner: string | undefined,
): Promise<DeclaredSchedules> {
  checkDefinitions(definitions)
  const names = new Set(definitions.map(({ name }) => name))
  const configured = await Promise.all(
    definitions.map(async (definition) => {
      const { kind } = await configureSchedule(session, definition, { owner, by: owner ?? 'work' })
      return { name: definition.name, kind }
    }),
  )
  const named = (kind: 'created' | 'changed') => configured.filter((one) => one.kind === kind).map(({ name }) => name)
  const deleted = owner === undefined ? [] : await deleteOthers(session, owner, names)
  return { created: named('created'), changed: named('changed'), deleted }
}

async function deleteOthers(session: Session, owner: string, names: ReadonlySet<string>): Promise<string[]> {
  const deleted: string[] = []
  let cursor: string | undefined = undefined
  do {
    const page = await listSchedules(session, { owner, namespace: session.namespace, cursor })
    for (const { name } of page.items) {
      if (names.has(name)) continue
      const { scheduleId, partition } = placeOf(session, name)
      const { result } = await session.runIn(partition, 'deleteSchedule', { scheduleId, owner, by: owner })
      // Another process of the owner may have been faster.
      if (result.kind === 'schedule_deleted') deleted.push(name)
    }
    cursor = page.cursor
  } while (cursor !== undefined)
  return deleted
}

function checkDefinitions(definitions: readonly unknown[]): void {
  const seen = new Set<string>()
  for (const definition of definitions) {
    if (!isScheduleDefinition(definition)) {
      throw invalidInput('schedules', `schedules has ${show(definition)}, which schedule(…) did not make.`)
    }
    if (seen.has(definition.name)) throw invalidInput('schedules', `schedules names ${show(definition.name)} twice.`)
    seen.add(definition.name)
  }
}
