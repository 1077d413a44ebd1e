/**
 * Makes foreign text safe for a terminal: whatever could move the cursor, change colours, add lines or reverse the direction of
 * writing is shown as an escape.
 */

/** Control and format characters, among them bidirectional marks, and separators of lines. */
const HIDDEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu
const HIDDEN_BUT_LINES = /(?![\n\t])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu

const SHORT_ESCAPES: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' }

/** Escapes foreign text for a place within a line. */
export function printable(text: string): string {
  return text.replace(HIDDEN, (hidden) => SHORT_ESCAPES[hidden] ?? escaped(hidden))
}

/** Escapes foreign text that may have several lines, such as a stack or formatted JSON. */
export function printableLines(text: string): string {
  return text.replace(HIDDEN_BUT_LINES, escaped)
}

/** Escapes a JSON document. The document stays equal: JSON has escapes for these characters. */
export function escapeHiddenInJson(json: string): string {
  return json.replace(HIDDEN, escaped)
}

export function firstLine(text: string): string {
  return printable(text.split('\n', 1)[0] ?? '')
}

/** A character beyond the first 65,536 has two units, each with an escape. */
function escaped(hidden: string): string {
  return Array.from(
    { length: hidden.length },
    (_, i) => `\\u${hidden.charCodeAt(i).toString(16).padStart(4, '0')}`,
  ).join('')
}
