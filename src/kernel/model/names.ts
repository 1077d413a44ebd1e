/** Text helpers of the kernel. Names are joined with a separator that no validated name may contain. */

/** Joins the parts of index names, record ids and blob keys. Lane, task, tag and worker names are refused if they contain it. */
export const SEPARATOR = '\u001f'

export function joinName(first: string, second: string): string {
  return first + SEPARATOR + second
}

/** Names that `keptNames` keeps at most. */
const KEPT_NAMES_MAX = 1_000

/**
 * Returns a function that makes a name of two parts once and returns the same text again. Texts that are the same object are
 * compared and found in maps without a look at their characters.
 */
export function keptNames<Second extends string = string>(
  make: (first: string, second: Second) => string,
): (first: string, second: Second) => string {
  const names = new Map<string, Map<Second, string>>()
  let count = 0
  return (first, second) => {
    const known = names.get(first)?.get(second)
    if (known !== undefined) return known
    if (count === KEPT_NAMES_MAX) {
      names.clear()
      count = 0
    }
    const name = make(first, second)
    const ofFirst = names.get(first) ?? new Map<Second, string>()
    names.set(first, ofFirst.set(second, name))
    count += 1
    return name
  }
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
