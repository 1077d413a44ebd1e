/** Text helpers of the kernel. Names are joined with a separator that no validated name may contain. */

/** Joins the parts of index names, record ids and blob keys. Lane, task, tag and worker names are refused if they contain it. */
export const SEPARATOR = '\u001f'

export function joinName(first: string, second: string): string {
  return first + SEPARATOR + second
}

/**
 * Returns the class of a task, or of one version of it. The class of a task without a version is its name, and no name of a task
 * contains the separator.
 */
export function taskClass(task: string, version: number | undefined): string {
  return version === undefined ? task : joinName(task, 'v' + String(version))
}

/** Returns the task of a class. */
export function taskOfClass(className: string): string {
  return nameStart(className)
}

/** Returns a joined name without its last part. */
export function nameBefore(name: string, last: string): string {
  return name.substring(0, name.length - last.length - SEPARATOR.length)
}

/** Returns the first part of a joined name. */
export function nameStart(name: string): string {
  const end = name.indexOf(SEPARATOR)
  return end < 0 ? name : name.substring(0, end)
}

/** Whether an id of an index of executions and flows is a flow's: that one begins with a letter. */
export function isFlowId(id: string): boolean {
  return id.startsWith('f')
}

/** Whether a text has the form of an execution id: a partition number, a dash, and more. */
export function isExecutionId(id: string): boolean {
  const dash = id.indexOf('-')
  if (dash < 1 || dash === id.length - 1) return false
  for (let i = 0; i < dash; i++) {
    const code = id.charCodeAt(i)
    if (code < 48 || code > 57) return false
  }
  return true
}
