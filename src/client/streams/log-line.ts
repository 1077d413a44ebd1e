/**
 * Log lines of handlers as they are stored: frames of the log of an execution, whose names are the levels. Their JSON has the
 * message, the step that was running, and the fields.
 */
import { LOG_LINE_BYTES } from '../../kernel/index.ts'
import type { LogFields } from '../../runtime/index.ts'
import { show } from '../checks/names.ts'
import { SealedValue } from '../../stores/opened-value.ts'
import type { PackedFrame } from './frame-codec.ts'
import { isObject } from './merge-patch.ts'

export const logLevels = ['debug', 'info', 'warn', 'error'] as const
export type LogLineLevel = (typeof logLevels)[number]

export interface LogLineContent {
  readonly message: string
  readonly step: string | undefined
  readonly fields: LogFields
  /** Whether the line was too long: its fields were left out, or its message was cut. */
  readonly isCut: boolean
}

/** Never throws: a line is worth no failure of its handler. */
export function packLogLine(
  level: LogLineLevel,
  message: unknown,
  step: string | undefined,
  fields: unknown,
): PackedFrame {
  const m = typeof message === 'string' ? message : show(message)
  const whole = tryStringify({ m, s: step, f: hasAny(fields) ? fields : undefined })
  const text = whole !== undefined && Buffer.byteLength(whole) <= LOG_LINE_BYTES ? whole : cutText(m, step, whole)
  return { name: level, encoding: 'json', bytes: Buffer.from(text) }
}

/** Reads a stored line. Other values are shown as they are: nothing of a log is refused. */
export function logLineOf(stored: unknown): LogLineContent {
  if (stored instanceof SealedValue) return { message: `(${stored.sealed})`, step: undefined, fields: {}, isCut: false }
  if (!isObject(stored)) return { message: String(stored), step: undefined, fields: {}, isCut: false }
  const { m, s, f, c } = stored
  return {
    message: typeof m === 'string' ? m : '',
    step: typeof s === 'string' ? s : undefined,
    fields: isObject(f) ? f : {},
    isCut: c === 1,
  }
}

/** JSON escapes a character with up to six bytes, and a character of UTF-8 has up to four. */
const CUT_MESSAGE_LENGTH = Math.floor(LOG_LINE_BYTES / 8)

function cutText(message: string, step: string | undefined, whole: string | undefined): string {
  const isShort = message.length <= CUT_MESSAGE_LENGTH
  const m = isShort ? message : `${message.slice(0, CUT_MESSAGE_LENGTH).toWellFormed()}…`
  const f = whole === undefined ? { unreadable: 'The fields cannot be written as JSON.' } : undefined
  return JSON.stringify({ m, s: step, f, c: 1 })
}

function hasAny(fields: unknown): boolean {
  return isObject(fields) && Object.keys(fields).length > 0
}

function tryStringify(value: unknown): string | undefined {
  try {
    return JSON.stringify(value, plain)
  } catch {
    return undefined
  }
}

function plain(_: string, value: unknown): unknown {
  if (value instanceof Error) return `${value.name}: ${value.message}`
  return typeof value === 'bigint' ? String(value) : value
}
