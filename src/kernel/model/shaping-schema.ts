/** The keys by which submits are shaped, as they are stored. New fields, words and variants go to the end. */
import { executionId } from './base-records.ts'
import { flag, frozenList, frozenObject, maybe, record, text, whole, word } from './field-kinds.ts'
import type { Infer, InferRecord } from './field-kinds.ts'

const shapingKind = word(['debounce', 'throttle', 'singleton', 'order'])

/** How the submits of one key are combined, or held apart. */
export type ShapingKind = Infer<typeof shapingKind>

const onFailure = word(['continue', 'block'])

/** Whether the failure of an ordered execution holds back those after it. */
export type OrderFailure = Infer<typeof onFailure>

export const shapedBy = frozenObject({
  /** The id of the shaping key. */
  id: text,
  kind: shapingKind,
  key: text,
  /** Its place in the line of the key. Absent if its key has no line. */
  place: maybe(whole),
  onFailure: maybe(onFailure),
  /** The end of the delay of its submit, if it had to wait in line. */
  notBefore: maybe(whole),
  /** It has failed, and those after it wait for an operator. */
  holdsBack: maybe(flag),
})

/** The shaping key of an execution. */
export type ShapedBy = Infer<typeof shapedBy>

const merged = frozenObject({
  /** The id that was minted for the submit. */
  submit: executionId,
  /** The execution whose input it replaced. */
  into: executionId,
})

export const shapingKey = record('shaping_key', {
  id: text,
  namespace: text,
  kind: shapingKind,
  /** Absent if the key is shared by all tasks. */
  task: maybe(text),
  key: text,
  /** The execution of the window, or the first in line. */
  current: maybe(executionId),
  /** When the window began. */
  since: whole,
  /** The end of the window. */
  until: maybe(whole),
  /** The last place in line that was given. */
  lastPlace: whole,
  /** Since when the first in line has failed and holds back the others. */
  heldSince: maybe(whole),
  /** The latest submits that replaced the input of an execution, so that a repetition does not do it again. */
  merged: frozenList(merged),
  /** When the record decides nothing any more. */
  removeAt: maybe(whole),
})

/** What the submits of one key have led to so far. In the partition of the executions of the key. */
export interface ShapingKey extends InferRecord<typeof shapingKey> {}
