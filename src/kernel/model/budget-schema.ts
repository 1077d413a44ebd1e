/**
 * Budgets, as they are stored. A tree of budgets lives in one partition, that of its root, so that one operation checks and
 * changes all levels. New fields, words and variants go to the end.
 */
import { executionId } from './base-records.ts'
import { flag, frozenList, frozenObject, maybe, number, rare, record, text, whole, word } from './field-kinds.ts'
import type { Infer, InferRecord } from './field-kinds.ts'

const amount = frozenObject({
  /** What is counted, such as tokens. */
  dimension: text,
  /** A whole number; of money, in millionths. */
  value: number,
})

/** So much of one dimension. */
export type Amount = Infer<typeof amount>

export const amountList = frozenList(amount)

/** Amounts by dimension, in the order of their names, each once. */
export type Amounts = Infer<typeof amountList>

const breachPolicy = word(['suspend', 'refuse_new', 'cancel', 'warn'])

/**
 * What happens to work that finds no room: it waits for an approval, is refused, is cancelled, or continues. New work waits
 * until there is room, unless the policy is `warn`.
 */
export type BreachPolicy = Infer<typeof breachPolicy>

const period = frozenObject({
  /** A word such as `day`, or the cron expression, as it was given. */
  every: text,
  cron: text,
  timeZone: text,
})

/** When a budget begins anew. The kernel stores it and never computes with it. */
export type BudgetPeriod = Infer<typeof period>

const freeze = frozenObject({ at: whole, by: maybe(text), reason: maybe(text) })

export const budget = record('budget', {
  /** The name of the root of its tree, and its own name. */
  id: text,
  root: text,
  name: text,
  /** The name of the budget above it. Absent for a root. */
  parent: maybe(text),
  hard: amountList,
  soft: amountList,
  onBreach: breachPolicy,
  period: maybe(period),
  /** The next instants at which it begins anew, ascending. */
  boundaries: frozenList(whole),
  /** The last boundary that has passed. */
  since: maybe(whole),
  /** When to ask for more boundaries; absent while there are enough. */
  planAt: maybe(whole),
  /** Rises with every change of the definition. */
  version: whole,
  createdAt: whole,
  changedAt: whole,
  changedBy: maybe(text),
  /** Set once an operator has changed it. From then on definitions in programs do not apply. */
  isManual: rare(flag),
  /** Why it was changed last. */
  changeReason: rare(text),
  /** Nothing is reserved, and no new work starts. */
  freeze: rare(freeze),
  /** The children of an execution that spends it spend it too, with the same key. */
  isInherited: rare(flag),
  /** Each execution has an account of its own. */
  isPerExecution: rare(flag),
  /** Set by a delete. The name is kept, because executions that name it must not wait for it. */
  deletedAt: rare(whole),
  /** A change may have given all keys room: when the engine wakes their work, unless the process that made the change has done so. */
  wakeAt: rare(whole),
})

/** The definition of a budget. It applies to each of its keys alone. */
export interface Budget extends InferRecord<typeof budget> {}

const taskSum = frozenObject({ namespace: text, task: text, count: whole, spent: amountList })

/** What the executions of one task have spent. */
export type TaskSum = Infer<typeof taskSum>

const raise = frozenObject({ id: text, at: whole, amounts: amountList, by: maybe(text) })

const parkedSpender = frozenObject({
  executionId,
  /** The number of its partition. */
  partition: whole,
  /** The lease after which it was delayed. */
  epoch: whole,
  amounts: amountList,
  /** When it asks by itself. */
  until: whole,
})

/** A delayed execution that found less room than it asked for. */
export type ParkedSpender = Infer<typeof parkedSpender>

export const account = record('account', {
  /** The budget and the key. */
  id: text,
  root: text,
  name: text,
  key: text,
  /** Rises whenever it begins anew. */
  period: whole,
  /** When the present period began. */
  since: whole,
  /** Spent in the present period. */
  spent: amountList,
  /** Held by reservations. */
  reserved: amountList,
  /** Added to the hard limits until it begins anew. */
  raised: amountList,
  /** The latest raises, newest last, so that a repetition of one has no further effect. */
  raises: frozenList(raise),
  /** Charges of the present period. */
  chargeCount: whole,
  /** What the tasks have spent in the present period; those beyond its bound share one entry without a name. */
  tasks: frozenList(taskSum),
  /** Spent in all periods. */
  total: amountList,
  totalCount: whole,
  /** The part of the total whose charges were removed by age. */
  removed: amountList,
  /** The part of the present period whose charges were removed by age. */
  removedNow: amountList,
  reservationCount: whole,
  /** How often work found no room. */
  breachCount: whole,
  breachedAt: maybe(whole),
  breachedDimension: maybe(text),
  /** The key of the call that was refused last. */
  refusedKey: maybe(text),
  /** The request that has begun it anew last. */
  resetId: maybe(text),
  /** Dimensions whose soft limit was passed in the present period. */
  warned: rare(frozenList(text)),
  createdAt: whole,
  /** Reservations so far, those that have ended included. Distinguishes states in which as many are open. */
  holdCount: rare(whole),
  /** When a report was counted last. */
  chargedAt: rare(whole),
  /** When an execution that spends it was found last, although nothing had used it for long. */
  keptAt: rare(whole),
  /** Delayed executions that are woken when what they ask for fits, in the order in which they were refused. */
  parked: rare(frozenList(parkedSpender)),
})

/** What one key of a budget has spent and reserved. */
export interface Account extends InferRecord<typeof account> {}

const accountPart = frozenObject({
  name: text,
  key: text,
  /** The period of the account that it counts in. */
  period: whole,
})

/** An account that a charge counts in. */
export type AccountPart = Infer<typeof accountPart>

const accountRef = frozenObject({ name: text, key: text })

/** A key of a budget in a known tree. */
export type AccountRef = Infer<typeof accountRef>

const spender = frozenObject({
  executionId: maybe(executionId),
  namespace: text,
  task: text,
  epoch: whole,
  attempt: whole,
})

/** Who spends. Outside of an execution, the epoch and the attempt are zero. */
export type Spender = Infer<typeof spender>

export const reservation = record('reservation', {
  /** The root of its tree, and the key of the call. */
  id: text,
  root: text,
  key: text,
  accounts: frozenList(accountRef),
  amounts: amountList,
  spender,
  createdAt: whole,
  expiresAt: whole,
})

/** Amounts that are held for an expensive call. It lapses unless the process that holds the lease renews it. */
export interface Reservation extends InferRecord<typeof reservation> {}

export const charge = record('charge', {
  /** The root of its tree, and the key of the call. */
  id: text,
  root: text,
  key: text,
  accounts: frozenList(accountPart),
  amounts: amountList,
  spender,
  at: whole,
  expiresAt: whole,
  /** It has passed a hard limit. A repetition of the report learns whether the limit is still passed. */
  hasPassed: rare(flag),
})

/** A line of the ledger: one report of what was spent. */
export interface Charge extends InferRecord<typeof charge> {}

export const pastPeriod = record('past_period', {
  /** The account and the number of the period. */
  id: text,
  root: text,
  name: text,
  key: text,
  period: whole,
  since: whole,
  until: whole,
  spent: amountList,
  hard: amountList,
  chargeCount: whole,
  tasks: frozenList(taskSum),
})

/** The sums of a period that has ended. */
export interface PastPeriod extends InferRecord<typeof pastPeriod> {}
