/**
 * The ids of the settings of lanes. A lane belongs to the store, and its limit to a namespace: each namespace but the default one has
 * settings of its own, beside those of the lane, which contain nothing but a limit.
 */
import { DEFAULT_NAMESPACE } from './task-class.ts'

/** Follows a namespace. Names of lanes and namespaces are ASCII, so none contains it. */
const AFTER_NAMESPACE = '\u00b7'

export interface NamedLane {
  readonly namespace: string
  readonly lane: string
}

/** Returns the id of the settings that contain the limit of a lane in a namespace. */
export function laneSettingsId(lane: string, namespace: string): string {
  return namespace === DEFAULT_NAMESPACE ? lane : namespace + AFTER_NAMESPACE + lane
}

export function parseLaneSettingsId(id: string): NamedLane {
  const end = id.indexOf(AFTER_NAMESPACE)
  if (end === -1) return { namespace: DEFAULT_NAMESPACE, lane: id }
  return { namespace: id.substring(0, end), lane: id.substring(end + AFTER_NAMESPACE.length) }
}
