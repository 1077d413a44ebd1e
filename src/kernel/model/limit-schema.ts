/**
 * Limits and their permits, as they are stored. A permit allows one execution to run and occupies one slot of its limit. Permits
 * belong to a worker process, so there is one record for each key and process. New fields, words and variants go to the end.
 */
import { executionId } from './base-records.ts'
import { flag, frozenList, frozenObject, maybe, rare, record, text, whole, word } from './field-kinds.ts'
import type { Infer, InferRecord } from './field-kinds.ts'

export const rate = frozenObject({
  /** The weight that may be admitted in any interval of the window's length. */
  count: whole,
  windowMs: whole,
})

/** How much work may start in a sliding window. */
export type Rate = Infer<typeof rate>

export const limit = record('limit_definition', {
  /** The name of the limit. */
  id: text,
  rate: maybe(rate),
  /** How many permits of one key may be held at once. */
  concurrency: maybe(whole),
  /** Rises with every change of the definition. */
  version: whole,
  createdAt: whole,
  changedAt: whole,
  changedBy: maybe(text),
  /** Set by a delete. The name is kept for a while, because executions that refer to the limit must not wait for it. */
  deletedAt: rare(whole),
  /** Set once an operator has changed it. From then on definitions in programs do not apply. */
  isManual: rare(flag),
  /** Why it was changed last. */
  changeReason: rare(text),
})

/** The definition of a limit. It applies to each of its keys alone. */
export interface Limit extends InferRecord<typeof limit> {}

const windowEntry = frozenObject({ at: whole, weight: whole })

/** The weight that was admitted at an instant. */
export type WindowEntry = Infer<typeof windowEntry>

const runner = frozenObject({
  executionId,
  workerInstanceId: text,
  /** The later execution for which its cancel was requested. */
  askedFor: maybe(executionId),
})

/** An execution that gives way: a later one that finds no permit has it cancelled. */
export type Runner = Infer<typeof runner>

const wokenExecution = frozenObject({
  executionId,
  /** The lease after which it was delayed. */
  epoch: whole,
})

/** A delayed execution that a budget has room for. */
export type WokenExecution = Infer<typeof wokenExecution>

/** A wake that was decided at an instant and is not known to have arrived. */
const owedWake = frozenObject({
  partition: whole,
  permits: whole,
  at: whole,
  /** Executions that end their delay, besides those that a gate blocks. */
  executions: rare(frozenList(wokenExecution)),
})

export const gauge = record('gauge', {
  id: text,
  limit: text,
  key: text,
  /** The sum of the permits of all holdings. */
  heldCount: whole,
  /** The number of holdings, those without permits included. */
  holderCount: whole,
  /** Admissions of the last window, oldest first. */
  window: frozenList(windowEntry),
  /** The length of the window when something was last admitted. */
  windowMs: whole,
  /** No admission before this instant. */
  heldUntil: rare(whole),
  /** Numbers of the execution partitions that have blocked work, in the order in which a return names them. */
  waiting: rare(frozenList(whole)),
  createdAt: whole,
  /** Executions that hold permits and give way to later ones, the oldest first. */
  runners: rare(frozenList(runner)),
  /** Who holds the key back, and why. */
  heldBy: rare(text),
  heldReason: rare(text),
  /** Of a budget: wakes that were decided and not confirmed, one for each partition. */
  owed: rare(frozenList(owedWake)),
  /** When the engine delivers them, unless they are confirmed before. */
  wakeAt: rare(whole),
})

/** The usage of one key of a limit. Removed when nothing is held and the window is empty. */
export interface Gauge extends InferRecord<typeof gauge> {}

const permitRequest = frozenObject({
  id: text,
  /** The permits that the request took; 0 for a return. */
  granted: whole,
  at: whole,
})

export const holding = record('holding', {
  id: text,
  limit: text,
  key: text,
  workerInstanceId: text,
  count: whole,
  expiresAt: whole,
  /** The latest requests, newest last, so that a repetition has no further effect. */
  requests: frozenList(permitRequest),
})

/** The permits of one key that a worker process holds. They lapse together unless the process renews them. */
export interface Holding extends InferRecord<typeof holding> {}

/** Why a key grants no permit. `unknown` refers to a limit that was never defined, `holders` to too many processes, `budget` to a budget that is used up. */
const limitCause = word(['rate', 'concurrency', 'held', 'unknown', 'holders', 'budget'])

export type LimitCause = Infer<typeof limitCause>

export const gate = record('gate', {
  id: text,
  limit: text,
  key: text,
  cause: limitCause,
  /** When it releases the next executions. */
  until: whole,
  /** How many it releases then. */
  permits: whole,
  createdAt: whole,
})

/** One key of a limit in an execution partition where it blocks work. Only executions that it has released pass it. */
export interface Gate extends InferRecord<typeof gate> {}
