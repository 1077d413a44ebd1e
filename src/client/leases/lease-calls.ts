/**
 * Runs executions for workers that do not connect to the store, such as programs in other languages behind the HTTP API. Each call is
 * fenced by the lease of the execution, so a worker that has lost its lease can change nothing. Claims leave executions alone that
 * need more than a handler, such as the condition of a flow's definition, or steps that are to be undone, unless the worker takes them.
 */
import { EngineError } from '../../kernel/engine-error.ts'
import {
  FAILURE_MESSAGE_BYTES,
  FRAME_BYTES,
  RESULT_BYTES,
  STACK_BYTES,
  STEP_VALUE_BYTES,
  LIMIT_HOLD_MAX_MS,
  PROGRESS_MESSAGE_BYTES,
} from '../../kernel/limits.ts'
import { budgetsOf, storedKey } from '../../kernel/index.ts'
import type { ClaimInput, Execution, Instant } from '../../kernel/index.ts'
import { randomSeed } from '../../runtime/index.ts'
import { limitPartition } from '../../stores/partitions.ts'
import type { Partition } from '../../stores/store.ts'
import { checkKey, checkPlainText, checkTaskName, invalidInput } from '../checks/names.ts'
import { decodeValue, encodeValue } from '../checks/payload.ts'
import { checkStepName } from '../checks/step-names.ts'
import { parseDuration } from '../define/duration.ts'
import type { Duration } from '../define/duration.ts'
import type { Session } from '../session.ts'
import { FramePacker } from '../streams/frame-codec.ts'
import { unwrap } from '../transport/unwrap.ts'
import { readableLease } from './claimed-lease.ts'
import type { ClaimedLease } from './claimed-lease.ts'
import { checkLeaseTtl, parseClaim } from './claim-options.ts'
import type { ClaimOptions, ParsedClaim } from './claim-options.ts'
import { endingLease } from './ending-lease.ts'
import { fenced, heldExecution } from './fenced.ts'
import { LeaseBudgets } from './lease-budgets.ts'
import { LeaseChildren } from './lease-children.ts'
import { LeaseInbox } from './lease-inbox.ts'
import { LeaseLogs } from './lease-logs.ts'
import { LeaseMembers } from './lease-members.ts'
import { admit, awaitRoom, permitLimits, renewPermits } from './lease-permits.ts'
import { renewReserved } from './lease-reservations.ts'
import { permitsOf, spendsBudgets } from './lease-text.ts'
import { LeaseUndo } from './lease-undo.ts'
import { LeaseWaits } from './lease-waits.ts'
import { LeaseWorkers } from './lease-workers.ts'
import type { Refreshes } from './lease-workers.ts'
import type { PlainPlaces } from './plain-places.ts'
import { ReadyWatch } from './ready-watch.ts'

export interface RenewedLease {
  readonly expiresAt: Instant
  /** Set if the execution is to be cancelled: its handler should stop and report a failure or a result. */
  readonly cancel: { readonly reason: string; readonly by: string; readonly forceAt: Instant } | undefined
}

export interface Failure {
  readonly message: string
  /** `error` unless given. `permanent` is not retried. */
  readonly category?: string | undefined
  readonly stack?: string | undefined
  /** The least delay of the next attempt. */
  readonly retryAfter?: Duration | undefined
  /**
   * Set by a worker that runs the compensations of its handler: the lease stays if the failure is final. `incomplete` if this run has
   * registered fewer than an earlier one, so that another run comes first.
   */
  readonly undo?: 'ready' | 'incomplete' | undefined
}

export interface FrameInput {
  readonly name: string
  readonly value: unknown
}

/** What calls remember from one to the next. Nothing is lost with it but time. */
export interface LeaseMemory {
  readonly places: PlainPlaces
  readonly refreshes: Refreshes
}

export class LeaseCalls {
  readonly #session: () => Session
  readonly #places: PlainPlaces
  readonly waits: LeaseWaits
  readonly children: LeaseChildren
  readonly members: LeaseMembers
  readonly budgets: LeaseBudgets
  readonly inbox: LeaseInbox
  readonly logs: LeaseLogs
  readonly undo: LeaseUndo
  readonly workers: LeaseWorkers

  /** `session` throws once the client is closed. The memory is that of all clients of the store. */
  constructor(session: () => Session, { places, refreshes }: LeaseMemory) {
    this.#session = session
    this.#places = places
    this.workers = new LeaseWorkers(session, refreshes)
    this.waits = new LeaseWaits(session)
    this.children = new LeaseChildren(session)
    this.members = new LeaseMembers(session)
    this.budgets = new LeaseBudgets(session, this.waits)
    this.inbox = new LeaseInbox(session)
    this.logs = new LeaseLogs(session)
    this.undo = new LeaseUndo(session)
  }

  /** Claims executions, and waits for some if asked to. If the signal aborts, what was claimed is given back. */
  async claim(options: ClaimOptions): Promise<readonly ClaimedLease[]> {
    const session = this.#session()
    const claim = parseClaim(options, session.namespace)
    const watch = new ReadyWatch(session.batcher, session.runtime, claim.queues)
    const endsAt = session.runtime.monotonic() + (claim.wait ?? 0)
    try {
      let partitions: readonly Partition[] | undefined = watch.partitions
      while (partitions !== undefined) {
        const found = await claimIn(session, partitions, claim, this.#places)
        if (found.length > 0) return await this.#unlessAborted(found, claim.signal)
        partitions = await watch.next(endsAt - session.runtime.monotonic(), claim.signal)
      }
      return []
    } finally {
      watch.close()
    }
  }

  /** Extends a lease, the permits and the reservations of its execution. */
  async renew(id: string, lease: string, leaseTtl: Duration): Promise<RenewedLease> {
    const session = this.#session()
    const holder = fenced(session, id, lease)
    const { executionId } = holder
    const leaseTtlMs = checkLeaseTtl(leaseTtl, 'leaseTtl')
    const { result } = await session.run(executionId, 'renewLease', { leaseTtlMs, ...holder })
    const { expiresAt, cancel } = unwrap(result)
    const permits = permitsOf(lease)
    const spends = spendsBudgets(lease)
    if (permits !== 'none' || spends) {
      const { execution } = unwrap((await session.run(executionId, 'describeExecution', { executionId })).result)
      if (permits !== 'none') await renewPermits(session, holder, permitLimits(execution, permits), leaseTtlMs)
      if (spends) await renewReserved(session, holder, budgetsOf(execution), leaseTtlMs)
    }
    return { expiresAt, cancel }
  }

  /** Completes an execution. Idempotent per lease. */
  async complete(id: string, lease: string, result: unknown): Promise<string> {
    const encoded = encodeValue(result, 'result', this.#session().batcher.valueLimit(RESULT_BYTES))
    const blobs = encoded === undefined ? [] : [encoded.bytes]
    const session = this.#session()
    const completed = await endingLease(session, id, lease, async (holder) => {
      const input = { ...holder, result: encoded?.input }
      return unwrap((await session.run(holder.executionId, 'completeExecution', input, blobs)).result)
    })
    return completed.kind
  }

  /** Reports a failure: the retry policy of the execution decides about another attempt. Idempotent per lease. */
  async fail(
    id: string,
    lease: string,
    failure: Failure,
  ): Promise<{ readonly kind: string; readonly retryAt?: Instant | undefined }> {
    const session = this.#session()
    const { message, category = 'error', stack, retryAfter, undo } = failure
    const report = {
      failure: {
        category: checkPlainText(category, 'category', CATEGORY_BYTES),
        message: checkBytes(message, 'message', FAILURE_MESSAGE_BYTES),
        stack: stack === undefined ? undefined : checkBytes(stack, 'stack', STACK_BYTES),
      },
      retryAfterMs: retryAfter === undefined ? undefined : parseDuration(retryAfter, 'retryAfter'),
      isIncomplete: undo === 'incomplete' ? true : undefined,
      seed: randomSeed(session.runtime),
    }
    const isUndoing = ({ kind }: { readonly kind: string }) =>
      undo !== undefined && (kind === 'unwinding' || kind === 'already_unwinding')
    const result = await endingLease(
      session,
      id,
      lease,
      async (holder) =>
        unwrap((await session.run(holder.executionId, 'failExecution', { ...holder, ...report })).result),
      isUndoing,
    )
    // The steps of an earlier attempt are to be undone, by a worker that has the compensations.
    if (result.kind === 'unwinding' && undo === undefined) await this.release(id, lease, 'its steps are to be undone')
    return { kind: result.kind, retryAt: 'retryAt' in result ? result.retryAt : undefined }
  }

  /** Gives an execution back, for another worker. It consumes no attempt. */
  async release(id: string, lease: string, reason: string): Promise<string> {
    const session = this.#session()
    const released = await endingLease(session, id, lease, async (holder) =>
      unwrap((await session.run(holder.executionId, 'releaseExecution', { ...holder, reason })).result),
    )
    return released.kind
  }

  /** Gives an execution back for a time. The same attempt continues then. */
  async postpone(id: string, lease: string, delay: Duration): Promise<string> {
    const session = this.#session()
    const delayMs = parseDuration(delay, 'delay')
    const delayed = await endingLease(session, id, lease, async (holder) =>
      unwrap((await session.run(holder.executionId, 'delayExecution', { ...holder, delayMs })).result),
    )
    return delayed.kind
  }

  /** Reports how far the attempt is. */
  async progress(
    id: string,
    lease: string,
    { percent, message }: { readonly percent?: number | undefined; readonly message?: string | undefined },
  ): Promise<string> {
    const text = message === undefined ? undefined : checkBytes(message, 'message', PROGRESS_MESSAGE_BYTES)
    const input = { ...this.#fenced(id, lease), percent, message: text }
    return unwrap((await this.#session().run(input.executionId, 'updateProgress', input)).result).kind
  }

  /** Holds back a key of a limit for all workers, and gives the execution back until then. */
  async limited(
    id: string,
    lease: string,
    held: { readonly limit: string; readonly key?: string | undefined; readonly retryAfter: Duration },
  ): Promise<string> {
    const session = this.#session()
    const limit = checkTaskName(held.limit, 'limit')
    const key = keyToHold(await heldExecution(session, id, lease), limit, held.key)
    const retryAfterMs = Math.min(parseDuration(held.retryAfter, 'retryAfter'), LIMIT_HOLD_MAX_MS)
    const partition = limitPartition(limit, session.settings)
    const { result } = await session.runIn(partition, 'holdLimit', { limit, key, retryAfterMs })
    return await this.postpone(id, lease, unwrap(result).retryAfterMs)
  }

  /** Records the result of a step. Returns the recorded value, which is another one if an earlier run has recorded the step. */
  async recordStep(
    id: string,
    lease: string,
    name: string,
    value: unknown,
  ): Promise<{ readonly kind: string; readonly value: unknown }> {
    const encoded = encodeValue(value, 'value', this.#session().batcher.valueLimit(STEP_VALUE_BYTES))
    const input = {
      ...this.#fenced(id, lease),
      stepKind: 'call',
      name: checkStepName(name),
      attemptCount: 1,
      outcome: { kind: 'completed', value: encoded?.input },
    } as const
    const blobs = encoded === undefined ? [] : [encoded.bytes]
    const reply = await this.#session().run(input.executionId, 'recordStep', input, blobs)
    const result = unwrap(reply.result)
    if (result.kind !== 'already_recorded') return { kind: result.kind, value }
    const { state, valueBlob } = result
    if (state.phase !== 'completed') return { kind: result.kind, value: undefined }
    return { kind: result.kind, value: decodeValue(state.value, reply.blobs[valueBlob ?? -1]) }
  }

  /** Appends durable frames. Appends of one lease are numbered from 1; a number that was appended before changes nothing. */
  async appendFrames(id: string, lease: string, append: number, frames: readonly FrameInput[]): Promise<string> {
    const packer = new FramePacker(0)
    for (const [i, { name, value }] of frames.entries()) {
      const encoded = encodeValue(value ?? null, `frames[${i}].value`, FRAME_BYTES)
      if (encoded !== undefined) packer.add({ name, encoding: encoded.input.encoding, bytes: encoded.bytes }, 0)
    }
    const { count } = packer
    const chunk = { count, newCount: count, frames: { blob: 0, size: packer.size, encoding: 'bytes' } } as const
    const input = { ...this.#fenced(id, lease), append, chunk }
    const { result } = await this.#session().run(input.executionId, 'appendFrames', input, [packer.packed])
    return unwrap(result).kind
  }

  async #unlessAborted(found: readonly ClaimedLease[], signal: AbortSignal | undefined) {
    if (signal?.aborted !== true) return found
    await Promise.all(found.map(({ id, lease }) => this.release(id, lease, 'the worker has disconnected')))
    throw new EngineError('aborted')
  }

  #fenced(id: string, lease: string) {
    return fenced(this.#session(), id, lease)
  }
}

const CATEGORY_BYTES = 64
/** How often one call reads on behind work that it leaves to other workers. The next call continues there. */
const PLAIN_READ_MAX = 10

async function claimIn(
  session: Session,
  partitions: readonly Partition[],
  claim: ParsedClaim,
  places: PlainPlaces,
): Promise<ClaimedLease[]> {
  const { runtime, within } = session
  const { workerId, instanceId, queues, takes = [], leaseTtlMs, count = 1 } = claim
  const plainAbilities = { conditions: takes.includes('conditions'), undo: takes.includes('undo') }
  const found: ClaimedLease[] = []
  let readsLeft = PLAIN_READ_MAX
  for (const partition of partitions) {
    const place = places.placeOf(partition, queues, takes)
    const input: ClaimInput = {
      requestId: runtime.uuid(),
      workerId,
      workerInstanceId: instanceId,
      namespace: within ?? session.namespace,
      queues,
      count: count - found.length,
      leaseTtlMs,
      isPlain: true,
      plainAbilities,
      seed: randomSeed(runtime),
    }
    try {
      // Not retried: executions of a lost reply are claimed again when their leases have expired.
      const own = { ...input, plainFrom: place.get() }
      let { result, blobs } = await session.batcher.run(partition, 'claimForWorker', own)
      while (result.executions.length === 0 && result.plainPlace !== undefined && readsLeft > 0) {
        readsLeft -= 1
        const next = { ...input, requestId: runtime.uuid(), plainFrom: result.plainPlace }
        ;({ result, blobs } = await session.batcher.run(partition, 'claimForWorker', next))
      }
      place.set(result.plainPlace)
      const admitted = await Promise.all(
        result.executions.map(async (claimed) => [claimed, await admit(session, claimed, leaseTtlMs)] as const),
      )
      for (const [claimed, isAdmitted] of admitted) {
        const lease = isAdmitted ? await readableLease(session, claimed, blobs) : undefined
        if (lease !== undefined) found.push(lease)
      }
      if (result.gates.length > 0) await awaitRoom(session, partition, result.gates)
    } catch (error) {
      // The caller gets what was claimed before.
      if (found.length === 0) throw error
      break
    }
    if (found.length >= count) break
  }
  return found
}

/** As stored: the given key of the execution's namespace, or the one that the execution itself uses. */
function keyToHold({ namespace, limits = [] }: Execution, limit: string, given: string | undefined): string {
  if (given !== undefined) return storedKey({ namespace, key: checkKey(given, 'key') })
  const own = limits.filter((used) => used.limit === limit)
  if (own.length <= 1) return own[0]?.key ?? storedKey({ namespace, key: '' })
  throw invalidInput('key', `The execution uses limit '${limit}' with ${own.length} keys: name the one to hold back.`)
}

function checkBytes(text: string, field: string, maximum: number): string {
  if (Buffer.byteLength(text) <= maximum) return text
  throw invalidInput(field, `${field} has more than ${maximum} bytes: shorten it.`)
}
