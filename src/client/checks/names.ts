/** Validates names and the shape of options: one function for each kind of value. */
import {
  IDENTITY_BYTES,
  KEY_BYTES,
  LANE_BYTES,
  NAME_BYTES,
  PRIORITY_MAX,
  REASON_BYTES,
  TAG_COUNT_MAX,
  TAG_VALUE_BYTES,
} from '../../kernel/limits.ts'
import type { Tag } from '../../kernel/model/records.ts'
import { invalidInput, show, wrongValue } from '../../options/invalid-input.ts'
import { required, shape } from '../../options/shape.ts'
import { TAG_NAME } from '../../kernel/model/tag-name.ts'
import { principalOf, readableText, visibleText } from './visible-text.ts'

export { invalidInput, show, wrongValue }

/** How the names of tasks and the ids begin that belong to FlowFabric. */
export const FABRIC_PREFIX = 'flowfabric.'

export type Tags = Readonly<Record<string, string>>

/** What the errors about texts have in common. */
const VISIBLE = 'without control characters, line breaks and invisible characters'
/** The longest name that is hashed. */
const GIVEN_NAME_BYTES = 1_048_576
const PRINTABLE_ASCII = /^[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?$/
// eslint-disable-next-line no-control-regex -- names must not contain control bytes, the index separator among them
const CONTROL = /[\u0000-\u001f\u007f]/

/** Checks that a value is an object. `form` is the example that the error shows. */
export function checkObject(value: unknown, field: string, form: string): asserts value is object {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return
  throw wrongValue(field, value, `an object such as ${form}`)
}

export function checkSignal(signal: unknown): AbortSignal {
  if (signal instanceof AbortSignal) return signal
  throw invalidInput('signal', `signal is ${show(signal)}, but must be an AbortSignal.`)
}

export function checkList(value: unknown, field: string): asserts value is readonly unknown[] {
  if (!Array.isArray(value)) throw wrongValue(field, value, 'a list')
}

function checkAsciiName(value: unknown, field: string, maximumBytes: number): string {
  if (typeof value !== 'string' || value.length > maximumBytes || !PRINTABLE_ASCII.test(value)) {
    throw invalidInput(
      field,
      `${field} is ${show(value)}, but must be 1 to ${maximumBytes} printable ASCII characters, without spaces at its ends.`,
    )
  }
  return value
}

export function checkLane(value: unknown, field = 'lane'): string {
  return checkAsciiName(value, field, LANE_BYTES)
}

export function checkTaskName(value: unknown, field = 'task'): string {
  return checkAsciiName(value, field, NAME_BYTES)
}

export function checkNamespace(value: unknown, field = 'namespace'): string {
  return checkAsciiName(value, field, NAME_BYTES)
}

export function checkWorkerId(value: unknown, field = 'workerId'): string {
  return checkAsciiName(value, field, NAME_BYTES)
}

export function checkKey(value: unknown, field = 'id'): string {
  return checkPlainText(value, field, KEY_BYTES)
}

/** Checks a name of any practical length. If it is too long to be stored as it is, it is hashed. */
export function checkGivenName(value: unknown, field: string): string {
  return checkPlainText(value, field, GIVEN_NAME_BYTES)
}

/** Checks a non-empty text that every store can keep unchanged. */
export function checkPlainText(value: unknown, field: string, maximumBytes: number): string {
  if (!isPlainText(value) || value === '' || !fits(value, maximumBytes)) {
    throw invalidInput(
      field,
      `${field} is ${show(value)}, but must be a text of 1 to ${maximumBytes} bytes without control characters.`,
    )
  }
  return value
}

/** Returns a reason in normal form. */
export function checkReason(value: unknown, field = 'reason'): string {
  const text = readableText(value)
  if (text !== undefined && fits(text, REASON_BYTES)) return text
  throw invalidInput(
    field,
    `${field} is ${show(value)}, but must be a text of at most ${REASON_BYTES} bytes ${VISIBLE}.`,
  )
}

/** Returns the name of a person or program in normal form, so that equal names compare equal. */
export function checkPrincipal(value: unknown, field: string): string {
  const principal = principalOf(value)
  if (principal !== undefined && fits(principal, IDENTITY_BYTES)) return principal
  throw invalidInput(
    field,
    `${field} is ${show(value)}, but must be a text of 1 to ${IDENTITY_BYTES} bytes ${VISIBLE} and without spaces at its ends.`,
  )
}

export function checkPriority(value: unknown, field = 'priority'): number {
  if (!Number.isInteger(value) || (value as number) < 0 || (value as number) > PRIORITY_MAX) {
    throw invalidInput(
      field,
      `${field} is ${show(value)}, but must be a whole number from 0 to ${PRIORITY_MAX}; higher goes first.`,
    )
  }
  return value as number
}

export function checkTagName(value: unknown, field = 'tags'): string {
  if (typeof value !== 'string' || !TAG_NAME.test(value)) {
    throw invalidInput(
      field,
      `${field} has the name ${show(value)}, but a tag's name must begin with a-z and have at most 64 characters of a-z, 0-9, '_', '.' and '-'.`,
    )
  }
  return value
}

/** Returns the value of a tag in normal form. */
function checkTagValue(value: unknown, field: string): string {
  const text = visibleText(value)
  if (text !== undefined && fits(text, TAG_VALUE_BYTES)) return text
  throw invalidInput(
    field,
    `${field} is ${show(value)}, but a tag's value must be a text of at most ${TAG_VALUE_BYTES} bytes ${VISIBLE}.`,
  )
}

/** Returns tags as they are stored: sorted by name, each marked if the store indexes it. */
export function checkTags(tags: unknown, indexedTags: readonly string[], field = 'tags'): Tag[] {
  if (tags === undefined) return []
  checkTagObject(tags, field)
  const entries = Object.entries(tags)
  if (entries.length > TAG_COUNT_MAX)
    throw invalidInput(field, `${field} has ${entries.length} tags, but at most ${TAG_COUNT_MAX} are allowed.`)
  return entries
    .map(([name, value]) => ({
      name: checkTagName(name, field),
      value: checkTagValue(value, `${field}.${name}`),
      indexed: indexedTags.includes(name),
    }))
    .sort((a, b) => (a.name < b.name ? -1 : 1))
}

/** Accepts plain objects only: a Map has no own keys, so its tags would be lost. */
export function checkTagObject(tags: unknown, field = 'tags'): asserts tags is Record<string, unknown> {
  if (isPlainObject(tags)) return
  throw invalidInput(field, `${field} must be an object of texts such as { plan: 'pro' }.`)
}

/** Checks a tag to filter by. */
export const checkTagQuery = /* @__PURE__ */ shape<Omit<Tag, 'indexed'>>()("{ name: 'plan', value: 'pro' }", {
  name: required((name) => checkTagName(name, 'tag')),
  value: required(checkTagValue),
})

export function tagsToObject(tags: readonly Tag[]): Tags {
  return Object.fromEntries(tags.map((tag) => [tag.name, tag.value]))
}

/** Whether an object has no prototype or that of object literals, in this realm or another. */
function isPlainObject(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false
  const prototype = Object.getPrototypeOf(value) as object | null
  return prototype === null || Object.getPrototypeOf(prototype) === null
}

/** A lone surrogate cannot be encoded, and control characters separate names in indexes. */
function isPlainText(value: unknown): value is string {
  return typeof value === 'string' && value.isWellFormed() && !CONTROL.test(value)
}

const encoder = new TextEncoder()

/** Whether a text has at most so many bytes. Short texts are not encoded: a UTF-16 unit has at most three bytes. */
function fits(text: string, maximumBytes: number): boolean {
  if (text.length * 3 <= maximumBytes) return true
  return text.length <= maximumBytes && encoder.encode(text).byteLength <= maximumBytes
}
