/** Text helpers of the kernel. Names are joined with a separator that no validated name may contain. */

/** Joins the parts of index names, record ids and blob keys. Lane, task, tag and worker names are refused if they contain it. */
export const SEPARATOR = '\u001f'

/** The largest integer that prints the same in JavaScript and in Lua. */
export const LARGEST_PRINTED_INTEGER = 99_999_999_999_999

/** The only way a number enters a string: as a whole number below 10^14, which both languages print alike. */
export function integerText(value: number): string {
  // A template would be refused by lint for the reason this function exists: Lua prints 14 digits only.
  return value >= 0 && value <= LARGEST_PRINTED_INTEGER ? value.toString() : '?'
}

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

/** Byte order of ASCII texts. Lua's own comparison follows the server's locale, so both languages compare codes. */
export function isTextBefore(a: string, b: string): boolean {
  const length = Math.min(a.length, b.length)
  for (let i = 0; i < length; i++) {
    const difference = a.charCodeAt(i) - b.charCodeAt(i)
    if (difference !== 0) return difference < 0
  }
  return a.length < b.length
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
