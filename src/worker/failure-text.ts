/** An error as an attempt's history keeps it: its message with those of its causes, and its stack, each bounded. */
import { FAILURE_MESSAGE_BYTES, STACK_BYTES } from '../kernel/index.ts'
import type { FailureInput } from '../kernel/index.ts'

/** Causes of causes that a message follows. */
const CAUSE_DEPTH_MAX = 10
const CATEGORY_LENGTH_MAX = 64

export function failureOf(category: string, error: unknown): FailureInput {
  return {
    category: category === '' ? 'error' : category.slice(0, CATEGORY_LENGTH_MAX),
    message: cutText(messageOf(error), FAILURE_MESSAGE_BYTES),
    stack: error instanceof Error && error.stack !== undefined ? cutText(error.stack, STACK_BYTES) : undefined,
  }
}

function messageOf(error: unknown): string {
  const parts: string[] = []
  let cause = error
  for (let depth = 0; depth < CAUSE_DEPTH_MAX && cause !== undefined && cause !== null; depth++) {
    parts.push(ownMessage(cause))
    cause = cause instanceof Error ? cause.cause : undefined
  }
  return parts.length === 0 ? `The handler threw ${String(error)}.` : parts.join(': ')
}

function ownMessage(error: unknown): string {
  if (error instanceof Error) return error.message === '' ? error.name : error.message
  return typeof error === 'string' ? error : (jsonOf(error) ?? Object.prototype.toString.call(error))
}

/** Functions and symbols have no JSON, and neither has what contains itself. */
function jsonOf(value: unknown): string | undefined {
  try {
    return JSON.stringify(value)
  } catch {
    return undefined
  }
}

const encoder = new TextEncoder()
const decoder = new TextDecoder()
/** Bytes that one unit of a JavaScript text needs at most. */
const BYTES_PER_UNIT = 3

/** The beginning of a text that fits, ending between two characters. */
export function cutText(text: string, maximumBytes: number): string {
  if (text.length * BYTES_PER_UNIT <= maximumBytes) return text
  const bytes = encoder.encode(text)
  if (bytes.byteLength <= maximumBytes) return text
  let end = maximumBytes
  while (end > 0 && isContinuation(bytes[end])) end -= 1
  return decoder.decode(bytes.subarray(0, end))
}

function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80
}
