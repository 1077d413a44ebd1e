/** The bounds of fields, by their names. The type of a field does not tell how large or long its value may be. */
import { invalidInput, show } from '../../options/invalid-input.ts'
import {
  ATTEMPTS_MAX,
  DURATION_MAX_MS,
  FAILURE_MESSAGE_BYTES,
  PRIORITY_MAX,
  STACK_BYTES,
  VERSION_MAX,
} from '../../kernel/limits.ts'
import type { CreateInput } from '../../kernel/index.ts'

/** What the fields of an input are compared with. */
export interface InputContext {
  /** A field that may be the id of a budget, where it is the name of a limit elsewhere. */
  readonly composed: string | undefined
  /** Throws unless the id belongs to the partition of the call. */
  checkId(id: string, name: string, kind: 'executionId' | 'flowId'): void
  /** Throws unless the store has a partition of executions with this number. */
  checkPartition(number: number, name: string): void
  /** Throws unless the caller may use a name that belongs to a namespace. */
  checkName(text: string, name: string): void
  /** Throws unless the caller may use a key of a limit. */
  checkLimitKey(limit: string, key: string): void
  /** Throws unless the blob with this number came with the call and has this size. */
  checkBlob(number: number, size: number): void
  /** Throws unless the caller may create the execution. Its fields have been checked. */
  checkNew(create: CreateInput): void
}

const TEXT_MAX = 8_192
const TEXT_MAXIMA: Readonly<Record<string, number>> = {
  message: FAILURE_MESSAGE_BYTES,
  stack: STACK_BYTES,
}
/** Texts of these fields may have several lines. */
const LONG_TEXTS = new Set(['message', 'stack', 'reason', 'error', 'text', 'description'])
/** Names of which indexes and ids are put together, with the separator between them. They must not contain it. */
const SIMPLE_NAMES = new Set([
  'namespace',
  'task',
  'lane',
  'name',
  'requestId',
  'leaseId',
  'workerId',
  'workerInstanceId',
  'root',
  'parent',
])
/** Numbers of these fields may have a fraction. */
const FRACTIONS = new Set(['factor', 'weight', 'percent', 'score', 'amount', 'perSecond'])
/** Numbers of partitions of executions. */
const PARTITION_NUMBERS = new Set(['waitingIn'])
const NUMBER_MAXIMA: Readonly<Record<string, number>> = {
  priority: PRIORITY_MAX,
  attempts: ATTEMPTS_MAX,
  version: VERSION_MAX,
}

// eslint-disable-next-line no-control-regex -- names must not contain control bytes, the index separator among them
const CONTROL = /[\u0000-\u001f\u007f]/
// eslint-disable-next-line no-control-regex -- the same without the mark after the namespace in the key of a limit
const CONTROL_IN_KEY = /[\u0000-\u001d\u001f\u007f]/
// eslint-disable-next-line no-control-regex -- the same without the separator, which composed names contain
const CONTROL_IN_COMPOSED = /[\u0000-\u001e\u007f]/

export function checkNumber(value: number, name: string, context: InputContext): void {
  const isWhole = Number.isSafeInteger(value) && value >= 0
  if (!isWhole && !(FRACTIONS.has(name) && Number.isFinite(value))) {
    throw invalidInput(name, `${name} is ${show(value)}, but must be a whole number from 0.`)
  }
  const maximum = name.endsWith('Ms') ? DURATION_MAX_MS : NUMBER_MAXIMA[name]
  if (maximum !== undefined && value > maximum) {
    throw invalidInput(name, `${name} is ${value}, but may be at most ${maximum}.`)
  }
  if (PARTITION_NUMBERS.has(name)) context.checkPartition(value, name)
}

export function checkText(value: string, name: string, context: InputContext): void {
  const maximum = TEXT_MAXIMA[name] ?? TEXT_MAX
  if (value.length > maximum) throw invalidInput(name, `${name} has more than ${maximum} characters.`)
  if (!value.isWellFormed()) throw invalidInput(name, `${name} has half of a character.`)
  if (LONG_TEXTS.has(name)) return
  if (name === 'key') {
    if (CONTROL_IN_KEY.test(value))
      throw invalidInput(name, `${name} is ${show(value)}, but must have no control characters.`)
    context.checkName(value, name)
    return
  }
  const control = SIMPLE_NAMES.has(name) && name !== context.composed ? CONTROL : CONTROL_IN_COMPOSED
  if (control.test(value)) throw invalidInput(name, `${name} is ${show(value)}, but must have no control characters.`)
  context.checkName(value, name)
}
