/**
 * Decides what becomes of a submit with a shaping key: it creates an execution, joins one, or replaces the input of one that has not
 * started. The decision and its effect are one operation, so a submit is stored when it is answered.
 */
import { CANCEL_GRACE_DEFAULT_MS, SHAPING_MEMORY_MS, SHAPING_MERGED_MAX } from '../../limits.ts'
import { shapingKeyId } from '../../model/indexes.ts'
import type { Execution, ExecutionId, Instant, ShapedBy, ShapingKey } from '../../model/records.ts'
import { refusedFor } from '../../results.ts'
import type { Refused } from '../../results.ts'
import type { Tx } from '../../tx.ts'
import { hasLiveLease, requestCancel } from '../cancel-request.ts'
import { stopExecution } from '../endings/end-execution.ts'
import { replacementOf } from '../endings/replacement.ts'
import { refuseHeld } from '../lanes.ts'
import { delayOf, newExecution, storeExecution } from '../new-execution.ts'
import type { CreateInput, SubmitShaping } from '../new-execution.ts'
import { IN_LINE, blockNew } from '../phases.ts'
import { enterQueue, refuseQueues } from '../queues.ts'
import { currentOf, endOfLine, newShapingKey, takePlace } from './line.ts'

export interface Shaped {
  readonly kind: 'created' | 'joined' | 'replaced'
  readonly execution: Execution
}

export type ShapingRefusal = Refused<'singleton_taken' | 'lane_draining' | 'lane_disabled' | 'too_many_needs'>

/** One submit and its key, which is stored only if the submit changes something. */
interface Request<S extends SubmitShaping = SubmitShaping> {
  readonly input: CreateInput
  readonly shaping: S
  readonly key: ShapingKey
}

type Of<K extends SubmitShaping['kind']> = Request<Extract<SubmitShaping, { kind: K }>>

export function submitShaped(tx: Tx, input: CreateInput, shaping: SubmitShaping): Shaped | ShapingRefusal {
  const key = keyOf(tx, input, shaping)
  const earlier = key.merged.find(({ submit }) => submit === input.executionId)
  const mergedInto = earlier === undefined ? undefined : tx.get('execution', earlier.into)
  if (mergedInto !== undefined) return { kind: 'replaced', execution: mergedInto }
  switch (shaping.kind) {
    case 'debounce':
      return debounce(tx, { input, shaping, key })
    case 'throttle':
      return throttle(tx, { input, shaping, key })
    case 'singleton':
      return submitSingleton(tx, { input, shaping, key })
    case 'order':
      return create(tx, { input, shaping, key }, input)
  }
}

function keyOf(tx: Tx, { namespace, task }: CreateInput, { kind, key }: SubmitShaping): ShapingKey {
  const id = shapingKeyId(namespace, kind, task, key)
  const of = { id, namespace, kind, task: kind === 'order' ? undefined : task, key }
  return tx.get('shaping_key', id) ?? newShapingKey(tx, of)
}

/** The last input of a window wins. The window ends after silence, and at its longest at its maximum. */
function debounce(tx: Tx, request: Of<'debounce'>): Shaped | ShapingRefusal {
  const { input, shaping, key } = request
  const current = currentOf(tx, key)
  const isOpen = current !== undefined && collects(current, tx.now)
  const since = isOpen ? key.since : tx.now
  const until = Math.min(tx.now + shaping.waitMs, since + shaping.maxMs)
  const delayed = { ...input, delayMs: until - tx.now }
  const window = { ...key, since, until, removeAt: Math.max(until, tx.now) + SHAPING_MEMORY_MS }
  return isOpen
    ? replaceInput(tx, { ...request, key: window }, delayed, current)
    : create(tx, { ...request, key: window }, delayed)
}

/** Whether the window of a debounced execution is open. What is due has left it, even if no due pass has run since. */
function collects({ state }: Execution, now: Instant): boolean {
  return state.phase === 'delayed' && state.cause === 'debounce' && state.until > now
}

/** The first submit of a window runs, and later ones join it, whatever has become of it. */
function throttle(tx: Tx, request: Of<'throttle'>): Shaped | ShapingRefusal {
  const { input, shaping, key } = request
  const current = currentOf(tx, key)
  if (current !== undefined && key.until !== undefined && key.until > tx.now) {
    return { kind: 'joined', execution: current }
  }
  const until = tx.now + shaping.everyMs
  const window = { ...key, since: tx.now, until, removeAt: until }
  return create(tx, { ...request, key: window }, keptFor(shaping.everyMs, input))
}

/** What later submits join must exist while they may, whatever its outcome. */
function keptFor(leastMs: number, input: CreateInput): CreateInput {
  const { retentionMs, retentions } = input
  const atLeast = (ms: number | undefined) => (ms === undefined ? undefined : Math.max(ms, leastMs))
  const longer = retentions && {
    completed: atLeast(retentions.completed),
    failed: atLeast(retentions.failed),
    cancelled: atLeast(retentions.cancelled),
    expired: atLeast(retentions.expired),
    skipped: atLeast(retentions.skipped),
    keep: undefined,
  }
  return { ...input, retentionMs: Math.max(retentionMs, leastMs), retentions: longer }
}

function submitSingleton(tx: Tx, request: Of<'singleton'>): Shaped | ShapingRefusal {
  const { input, shaping, key } = request
  const holder = currentOf(tx, key)
  if (holder === undefined) return create(tx, request, input)
  const latest = endOfLine(tx, key.id, 'last') ?? holder
  switch (shaping.ifTaken) {
    case 'join':
      return { kind: 'joined', execution: latest }
    case 'reject':
      return refusedFor('singleton_taken', latest)
    case 'replace':
      return hasStarted(latest) ? displace(tx, request, holder, latest) : replaceInput(tx, request, input, latest)
  }
}

function hasStarted({ state, startedAt }: Execution): boolean {
  return startedAt !== undefined || state.phase === 'active' || state.phase === 'suspended'
}

/** Creates an execution that runs when those before it have stopped. */
function displace(tx: Tx, request: Request, holder: Execution, latest: Execution): Shaped | ShapingRefusal {
  const created = create(tx, request, request.input)
  if (created.kind === 'refused') return created
  const displaced = latest.id === holder.id ? [holder] : [latest, holder]
  for (const execution of displaced) stop(tx, execution, created.execution.id)
  return { kind: 'created', execution: tx.get('execution', created.execution.id) ?? created.execution }
}

function stop(tx: Tx, execution: Execution, successorId: ExecutionId): void {
  if (execution.unwinding !== undefined) return
  const reason = `a later submit of its key replaces it: ${successorId}`
  const request = { reason, by: BY_SHAPING, graceMs: CANCEL_GRACE_DEFAULT_MS }
  if (hasLiveLease(tx, execution)) requestCancel(tx, execution, request)
  else stopExecution(tx, execution, { outcome: 'cancelled', reason, by: BY_SHAPING }, 'cancelled')
}

const BY_SHAPING = 'shaping'

function create(tx: Tx, { shaping, key }: Request, input: CreateInput): Shaped | ShapingRefusal {
  const refusal = refuseHeld(tx, input) ?? refuseQueues(tx, [input])
  if (refusal !== undefined) return refusal
  const execution = newExecution(tx, input, 0)
  enterQueue(tx, execution)
  const mustWait = standIn(tx, execution, { shaping, key }, input)
  tx.put(key)
  storeExecution(tx, execution, input)
  tx.emit('execution_created', execution, { until: delayOf(execution), effect: mustWait ? IN_LINE : undefined })
  return { kind: 'created', execution }
}

/** Gives a new execution its key, and its place if the key has a line. Returns whether it must wait. */
function standIn(tx: Tx, execution: Execution, { shaping, key }: Omit<Request, 'input'>, input: CreateInput): boolean {
  const shaped = shapedBy(shaping, key)
  if (shaping.kind === 'debounce' || shaping.kind === 'throttle') {
    execution.shaping = shaped
    key.current = execution.id
    return false
  }
  if (!takePlace(tx, key, execution, shaped)) return false
  waitInLine(tx, execution, input)
  return true
}

function waitInLine(tx: Tx, execution: Execution, { delayMs = 0 }: CreateInput): void {
  const { shaping } = execution
  if (shaping !== undefined && delayMs > 0) execution.shaping = { ...shaping, notBefore: tx.now + delayMs }
  blockNew(execution, 'order')
}

function shapedBy(shaping: SubmitShaping, { id, kind, key }: ShapingKey): ShapedBy {
  const onFailure = shaping.kind === 'order' ? shaping.onFailure : undefined
  return { id, kind, key, place: undefined, onFailure, notBefore: undefined, holdsBack: undefined }
}

/** Gives an execution that has not started the input and all settings of a later submit. It keeps its id, age and place. */
function replaceInput(
  tx: Tx,
  { key, shaping }: Request,
  input: CreateInput,
  existing: Execution,
): Shaped | ShapingRefusal {
  const refusal = refuseHeld(tx, input) ?? refuseQueues(tx, [input])
  if (refusal !== undefined) return refusal
  const isInLine = existing.state.phase === 'blocked' && existing.state.by === 'order'
  const execution = replacementOf(tx, existing, { ...input, executionId: existing.id })
  execution.shaping = { ...shapedBy(shaping, key), place: existing.shaping?.place }
  if (isInLine) waitInLine(tx, execution, input)
  key.merged = [...key.merged, { submit: input.executionId, into: existing.id }].slice(-SHAPING_MERGED_MAX)
  tx.put(key)
  storeExecution(tx, execution, input)
  tx.emit('execution_replaced', execution, { until: delayOf(execution), effect: isInLine ? IN_LINE : undefined })
  return { kind: 'replaced', execution }
}
