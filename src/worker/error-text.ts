/** Converts thrown values into stored failures: message, messages of the causes, and stack, each truncated to its limit. */
import { ChildFailedError } from '../client/define/errors.ts'
import { FAILURE_MESSAGE_BYTES, STACK_BYTES } from '../kernel/index.ts'
import type { FailureInput } from '../kernel/index.ts'

/** Maximum length of a chain of causes. */
const CAUSE_DEPTH_MAX = 10
/** Maximum number of errors that the message of an aggregate error lists. */
const INNER_ERRORS_MAX = 5
const CATEGORY_LENGTH_MAX = 64

/** Accepts any thrown value, including values that are not errors and errors whose getters throw. */
export function failureOf(category: unknown, error: unknown): FailureInput {
  return {
    category: typeof category === 'string' && category !== '' ? category.slice(0, CATEGORY_LENGTH_MAX) : 'error',
    message: cutText(textOf(() => messageOf(error)) ?? INDESCRIBABLE, FAILURE_MESSAGE_BYTES),
    stack: cutIfText(textOf(() => (isErrorLike(error) ? error.stack : undefined))),
  }
}

/**
 * Applies `shouldRetry` to a failure: false makes it permanent. Anything but false leaves the decision to the retry policy, and a
 * function that throws is recorded as the failure.
 */
export function unlessPermanent(
  failure: FailureInput,
  error: unknown,
  shouldRetry: ((error: unknown) => unknown) | undefined,
): FailureInput {
  if (shouldRetry === undefined || failure.category === 'permanent') return failure
  try {
    return shouldRetry(error) === false ? { ...failure, category: 'permanent' } : failure
  } catch (thrown) {
    return failureOf('error', thrown)
  }
}

const INDESCRIBABLE = 'The handler threw a value that cannot be converted to text.'

function textOf(read: () => unknown): string | undefined {
  try {
    const text = read()
    return typeof text === 'string' ? text : undefined
  } catch {
    return undefined
  }
}

function cutIfText(text: string | undefined): string | undefined {
  return text === undefined ? undefined : cutText(text, STACK_BYTES)
}

interface ErrorLike {
  readonly name?: unknown
  readonly message: unknown
  readonly stack?: unknown
  readonly cause?: unknown
  readonly errors?: unknown
}

/** Structural, because errors of another realm are not instances of this realm's `Error`. */
function isErrorLike(value: unknown): value is ErrorLike {
  return typeof value === 'object' && value !== null && 'message' in value
}

function messageOf(error: unknown): string {
  const parts: string[] = []
  let cause = error
  for (let depth = 0; depth < CAUSE_DEPTH_MAX && cause !== undefined && cause !== null; depth++) {
    const message = ownMessage(cause)
    // Skips the cause if the message already ends with it.
    if (parts.at(-1)?.endsWith(message) !== true) parts.push(message)
    cause = isErrorLike(cause) ? cause.cause : undefined
  }
  return parts.length === 0 ? `The handler threw ${String(error)}.` : parts.join(': ')
}

function ownMessage(error: unknown): string {
  if (!isErrorLike(error))
    return typeof error === 'string' ? error : (jsonOf(error) ?? Object.prototype.toString.call(error))
  const { message, name } = error
  const own = typeof message === 'string' && message !== '' ? message : typeof name === 'string' ? name : 'error'
  if (error instanceof ChildFailedError) return `${childText(error)}: ${own.replace(CHILD_TEXT, '')}`
  return Array.isArray(error.errors) ? `${own} (${innerMessages(error.errors)})` : own
}

/**
 * Names the child, so that the failure of a parent shows where to look. A child that failed because of a child of its own has the
 * name of that one in its failure: it is left out here, so that the cause of a long chain has room.
 */
function childText({ child, task, childId, outcome, code }: ChildFailedError): string {
  const category = code === outcome ? '' : ` (${code})`
  return `Child '${child}' (task '${task}', ${childId}) ${endText[outcome]}${category}`
}

/** What `childText` returns, and the colon. */
const CHILD_TEXT =
  /^Child '[^]*?' \(task '[^]*?', \d+-[0-9a-f-]{36}\) (?:failed|was cancelled|expired|was skipped)(?: \([^)]*\))?: /

const endText: Readonly<Record<ChildFailedError['outcome'], string>> = {
  failed: 'failed',
  cancelled: 'was cancelled',
  expired: 'expired',
  skipped: 'was skipped',
}

function innerMessages(errors: readonly unknown[]): string {
  return errors.slice(0, INNER_ERRORS_MAX).map(ownMessage).join('; ')
}

/** Returns undefined for functions, symbols and cyclic objects. */
function jsonOf(value: unknown): string | undefined {
  try {
    return JSON.stringify(value)
  } catch {
    return undefined
  }
}

const encoder = new TextEncoder()
const decoder = new TextDecoder()
/** Maximum UTF-8 bytes of one UTF-16 code unit. */
const BYTES_PER_UNIT = 3

/** Truncates a text to a number of UTF-8 bytes without splitting a character. */
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
