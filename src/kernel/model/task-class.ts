/**
 * The class of an execution: task, namespace, needs and version. Lane and class name the queue that the execution waits in, so a
 * worker reads only queues whose executions it may run.
 */
import { SEPARATOR, joinName, nameStart } from './names.ts'

/** Executions of this namespace have classes without a namespace. */
export const DEFAULT_NAMESPACE = 'default'

/** The marks of the parts after the task. No name of a task contains the separator, so the parts cannot be confused. */
const NAMESPACE_MARK = '@'
const NEEDS_MARK = 'n'
const VERSION_MARK = 'v'
/** The last part of the class of executions that take turns. */
const FAIR_END = SEPARATOR + 'fair'
/** Precedes a digest. Needs begin with none: it separates them. */
const DIGEST_MARK = ','

/** Needs as they appear in a class. Long ones are represented by a digest, and the record of the queue has the list. */
export interface NeedsName {
  readonly text: string
  readonly isDigest: boolean
}

/** The parts of a class besides its task and version. */
export interface Route {
  readonly namespace?: string | undefined
  readonly needs?: NeedsName | undefined
}

export interface TaskClass extends Route {
  readonly task: string
  readonly version: number | undefined
  readonly namespace: string
}

/** Returns the class of a task, or of one version of it. Without namespace, needs and version it is the name of the task. */
export function taskClass(task: string, version: number | undefined, route: Route = {}): string {
  const start = classStart(task, route)
  return version === undefined ? start : joinName(start, VERSION_MARK + String(version))
}

function classStart(task: string, { namespace, needs }: Route): string {
  const isDefault = namespace === undefined || namespace === DEFAULT_NAMESPACE
  const owned = isDefault ? task : joinName(task, NAMESPACE_MARK + namespace)
  if (needs === undefined) return owned
  return joinName(owned, NEEDS_MARK + (needs.isDigest ? DIGEST_MARK : '') + needs.text)
}

/** Parses a class. Unknown parts are ignored. */
export function parseClass(className: string): TaskClass {
  const [task = '', ...parts] = className.split(SEPARATOR)
  let namespace = DEFAULT_NAMESPACE
  let needs: NeedsName | undefined = undefined
  let version: number | undefined = undefined
  for (const part of parts) {
    const text = part.substring(1)
    if (part.startsWith(NAMESPACE_MARK)) namespace = text
    else if (part.startsWith(NEEDS_MARK)) needs = parseNeeds(text)
    else if (part.startsWith(VERSION_MARK)) version = Number(text)
  }
  return { task, version, namespace, needs }
}

function parseNeeds(text: string): NeedsName {
  const isDigest = text.startsWith(DIGEST_MARK)
  return { text: isDigest ? text.substring(DIGEST_MARK.length) : text, isDigest }
}

/** Returns what all classes with needs of one task and namespace begin with. */
export function needsStart(className: string): string {
  const { task, namespace } = parseClass(className)
  return joinName(classStart(task, { namespace }), NEEDS_MARK)
}

/** Returns the class of those executions of a class that take turns. They are claimed in another order, from an index of their own. */
export function fairClass(className: string): string {
  return className + FAIR_END
}

export function isFairClass(className: string): boolean {
  return className.endsWith(FAIR_END)
}

/** Returns the task of a class. */
export function taskOfClass(className: string): string {
  return nameStart(className)
}

/** Whether workers may learn of a class only from the store: it has a namespace or needs, or its executions take turns. */
export function isRouted(className: string): boolean {
  const { namespace, needs } = parseClass(className)
  return needs !== undefined || namespace !== DEFAULT_NAMESPACE || isFairClass(className)
}
