/** Text helpers of the kernel. Names are joined with a separator that no validated name may contain. */

/** Joins the parts of index names, record ids and blob keys. Lane, task, tag and worker names are refused if they contain it. */
export const SEPARATOR = '\u001f'

export function joinName(first: string, second: string): string {
  return first + SEPARATOR + second
}

/** What a joined name was before its last part was added. */
export function nameBefore(name: string, last: string): string {
  return name.substring(0, name.length - last.length - SEPARATOR.length)
}

/** The first part of a joined name. */
export function nameStart(name: string): string {
  const end = name.indexOf(SEPARATOR)
  return end < 0 ? name : name.substring(0, end)
}

/** An index that holds executions and flows tells them apart by their ids: that of a flow begins with a letter. */
export function isFlowId(id: string): boolean {
  return id.startsWith('f')
}

/** Whether a text looks like an execution's id: a partition's number, a dash, and more. */
export function isExecutionId(id: string): boolean {
  const dash = id.indexOf('-')
  if (dash < 1 || dash === id.length - 1) return false
  for (let i = 0; i < dash; i++) {
    const code = id.charCodeAt(i)
    if (code < 48 || code > 57) return false
  }
  return true
}
