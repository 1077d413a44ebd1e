/** Which events a subscription or a consumer gets. */
import { eventTypes } from '../../kernel/index.ts'
import type { EventType, EventFilter as StoredFilter } from '../../kernel/index.ts'
import type { EventHint, StoredEvent } from '../../stores/store.ts'
import {
  checkLane,
  checkList,
  checkNamespace,
  checkTagQuery,
  checkTaskName,
  invalidInput,
  show,
} from '../checks/names.ts'
import { eventFamilyNames, typesOf } from './event-families.ts'
import type { EventFamily } from './event-families.ts'

/** All conditions have to hold. */
export interface EventFilterOptions {
  readonly types?: readonly EventType[]
  /** The types that concern these kinds of things, besides `types`. */
  readonly families?: readonly EventFamily[]
  readonly namespace?: string
  readonly task?: string
  readonly lane?: string
  readonly tag?: { readonly name: string; readonly value: string }
}

export const filterChecks = {
  types: checkTypes,
  families: checkFamilies,
  namespace: checkNamespace,
  task: checkTaskName,
  lane: checkLane,
  tag: checkTagQuery,
}

function checkTypes(given: unknown, field: string): readonly EventType[] {
  checkList(given, field)
  const types = given as readonly EventType[]
  const unknown = types.find((type) => !eventTypes.includes(type))
  if (unknown === undefined) return types
  throw invalidInput(field, `types has ${show(unknown)}, but an event's type is one of ${eventTypes.join(', ')}.`)
}

function checkFamilies(given: unknown, field: string): readonly EventFamily[] {
  checkList(given, field)
  const families = given as readonly EventFamily[]
  const unknown = families.find((family) => !eventFamilyNames.includes(family))
  if (unknown === undefined) return families
  throw invalidInput(field, `families has ${show(unknown)}, but a family is one of ${eventFamilyNames.join(', ')}.`)
}

/** The same with families as types. Types that this version does not know match no event. */
export interface EventFilter {
  readonly types?: readonly string[] | undefined
  readonly namespace?: string | undefined
  readonly task?: string | undefined
  readonly lane?: string | undefined
  readonly tag?: { readonly name: string; readonly value: string } | undefined
  readonly executionId?: string | undefined
  readonly flowId?: string | undefined
  /** Also events that belong to no namespace, although there is one above. */
  readonly storeWide?: boolean | undefined
  /** Executions of this task are left out. */
  readonly exceptTask?: string | undefined
}

function filterOf({ types, families, ...rest }: EventFilterOptions): EventFilter {
  if (families === undefined) return types === undefined ? rest : { ...rest, types }
  return { ...rest, types: [...new Set([...(types ?? []), ...typesOf(families)])] }
}

/** Which events a caller may get. */
interface Scope {
  readonly within: string | undefined
  readonly isStoreVisible: boolean
  listed(wanted: string | undefined): string | undefined
}

/** Returns the filter of a caller that is bound to a namespace: the events of it, and those that belong to none. */
export function scopedFilter(session: Scope, options: EventFilterOptions): StoredFilter {
  const { types, namespace, task, lane, tag } = filterOf(options)
  const isImplied = namespace === undefined && session.within !== undefined && session.isStoreVisible
  return { types, namespace: session.listed(namespace), task, lane, tag, storeWide: isImplied ? true : undefined }
}

/** Returns what a store can examine of a filter. */
export function hintOf(filter: EventFilter): EventHint | undefined {
  const { types, namespace, task, lane, tag, executionId, flowId, storeWide } = filter
  const scope = storeWide === true ? undefined : namespace
  const texts = [scope, task, lane, tag?.name, tag?.value, executionId, flowId].filter((text) => text !== undefined)
  return types === undefined && texts.length === 0 ? undefined : { types, texts }
}

/** Whether an event matches. A value that is missing never does. */
export function isWanted(event: StoredEvent, filter: EventFilter): boolean {
  const { types, namespace, task, lane, tag, executionId, flowId, exceptTask, storeWide } = filter
  if (exceptTask !== undefined && event.task === exceptTask) return false
  const isStoreEvent = storeWide === true && event.namespace === ''
  if (namespace !== undefined && event.namespace !== namespace && !isStoreEvent) return false
  if (executionId !== undefined && event.executionId !== executionId) return false
  if (flowId !== undefined && event.flowId !== flowId) return false
  if (types !== undefined && !types.includes(event.type)) return false
  if (task !== undefined && event.task !== task) return false
  if (lane !== undefined && event.lane !== lane) return false
  if (tag === undefined) return true
  return event.tags.some((part, i) => i % 2 === 0 && part === tag.name && event.tags[i + 1] === tag.value)
}
