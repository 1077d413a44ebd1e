/**
 * Runs executions for workers that do not connect to the store, such as programs in other languages behind the HTTP API. Each call is
 * fenced by the lease of the execution, so a worker that has lost its lease can change nothing. Claims leave executions alone that
 * need more than a handler: permits of limits, the condition of a flow's definition, or steps that are to be undone.
 */
import { EngineError } from '../../kernel/engine-error.ts'
import { FAILURE_MESSAGE_BYTES, FRAME_BYTES, RESULT_BYTES, STACK_BYTES, STEP_VALUE_BYTES } from '../../kernel/limits.ts'
import type { Claimed, ClaimInput, ExecutionId, Instant } from '../../kernel/index.ts'
import { randomSeed } from '../../runtime/index.ts'
import type { Partition } from '../../stores/store.ts'
import { checkPlainText, invalidInput, tagsToObject } from '../checks/names.ts'
import type { Tags } from '../checks/names.ts'
import { decodeValue, encodeValue } from '../checks/payload.ts'
import { checkStepName } from '../checks/step-names.ts'
import { parseDuration } from '../define/duration.ts'
import type { Duration } from '../define/duration.ts'
import { readDescription } from '../executions/execution-reads.ts'
import type { Session } from '../session.ts'
import { FramePacker } from '../streams/frame-codec.ts'
import { unwrap } from '../transport/unwrap.ts'
import { checkLeaseTtl, parseClaim } from './claim-options.ts'
import type { ClaimOptions, ParsedClaim } from './claim-options.ts'
import { idempotencyKeyOf } from './idempotency-key.ts'
import { leaseText, parseLease } from './lease-text.ts'
import { ReadyWatch } from './ready-watch.ts'

/** An execution that was claimed. Its handler runs until the lease has expired and was not renewed. */
export interface ClaimedLease {
  readonly id: ExecutionId
  readonly key: string | undefined
  readonly namespace: string
  readonly task: string
  readonly version: number | undefined
  readonly lane: string
  readonly tags: Tags
  readonly attempt: number
  readonly input: unknown
  /** In a flow: the results of its upstreams by name. */
  readonly inputs: Readonly<Record<string, unknown>> | undefined
  /** The same for all attempts and runs of its handler: for calls of services that take such a key. */
  readonly idempotencyKey: string
  /** How many steps it has recorded. */
  readonly stepCount: number
  readonly lease: string
  readonly expiresAt: Instant
  /** When the attempt exceeds its time limit. */
  readonly timeoutAt: Instant | undefined
}

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
}

export interface FrameInput {
  readonly name: string
  readonly value: unknown
}

export class LeaseCalls {
  readonly #session: () => Session

  /** `session` throws once the client is closed. */
  constructor(session: () => Session) {
    this.#session = session
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
        const found = await claimIn(session, partitions, claim)
        if (found.length > 0) return await this.#unlessAborted(found, claim.signal)
        partitions = await watch.next(endsAt - session.runtime.monotonic(), claim.signal)
      }
      return []
    } finally {
      watch.close()
    }
  }

  /** Extends a lease. */
  async renew(id: string, lease: string, leaseTtl: Duration): Promise<RenewedLease> {
    const input = { leaseTtlMs: checkLeaseTtl(leaseTtl, 'leaseTtl'), ...this.#fenced(id, lease) }
    const { expiresAt, cancel } = unwrap((await this.#session().run(input.executionId, 'renewLease', input)).result)
    return { expiresAt, cancel }
  }

  /** Completes an execution. Idempotent per lease. */
  async complete(id: string, lease: string, result: unknown): Promise<string> {
    const encoded = encodeValue(result, 'result', RESULT_BYTES)
    const input = { ...this.#fenced(id, lease), result: encoded?.input }
    const blobs = encoded === undefined ? [] : [encoded.bytes]
    return unwrap((await this.#session().run(input.executionId, 'completeExecution', input, blobs)).result).kind
  }

  /** Reports a failure: the retry policy of the execution decides about another attempt. Idempotent per lease. */
  async fail(
    id: string,
    lease: string,
    failure: Failure,
  ): Promise<{ readonly kind: string; readonly retryAt?: Instant | undefined }> {
    const session = this.#session()
    const { message, category = 'error', stack, retryAfter } = failure
    const input = {
      ...this.#fenced(id, lease),
      failure: {
        category: checkPlainText(category, 'category', CATEGORY_BYTES),
        message: checkBytes(message, 'message', FAILURE_MESSAGE_BYTES),
        stack: stack === undefined ? undefined : checkBytes(stack, 'stack', STACK_BYTES),
      },
      retryAfterMs: retryAfter === undefined ? undefined : parseDuration(retryAfter, 'retryAfter'),
      seed: randomSeed(session.runtime),
    }
    const result = unwrap((await session.run(input.executionId, 'failExecution', input)).result)
    // The steps of an earlier attempt are to be undone, by a worker that has the compensations.
    if (result.kind === 'unwinding') await this.release(id, lease, 'its steps are to be undone')
    return { kind: result.kind, retryAt: 'retryAt' in result ? result.retryAt : undefined }
  }

  /** Gives an execution back, for another worker. It consumes no attempt. */
  async release(id: string, lease: string, reason: string): Promise<string> {
    const input = { ...this.#fenced(id, lease), reason }
    return unwrap((await this.#session().run(input.executionId, 'releaseExecution', input)).result).kind
  }

  /** Gives an execution back for a time. The same attempt continues then. */
  async postpone(id: string, lease: string, delay: Duration): Promise<string> {
    const input = { ...this.#fenced(id, lease), delayMs: parseDuration(delay, 'delay') }
    return unwrap((await this.#session().run(input.executionId, 'delayExecution', input)).result).kind
  }

  /** Records the result of a step. Returns the recorded value, which is another one if an earlier run has recorded the step. */
  async recordStep(
    id: string,
    lease: string,
    name: string,
    value: unknown,
  ): Promise<{ readonly kind: string; readonly value: unknown }> {
    const encoded = encodeValue(value, 'value', STEP_VALUE_BYTES)
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
    return { executionId: this.#session().resolve(id), fence: parseLease(lease) }
  }
}

const CATEGORY_BYTES = 64

async function claimIn(
  session: Session,
  partitions: readonly Partition[],
  claim: ParsedClaim,
): Promise<ClaimedLease[]> {
  const { runtime, within } = session
  const { workerId, instanceId, queues, leaseTtlMs, count = 1 } = claim
  const found: ClaimedLease[] = []
  for (const partition of partitions) {
    const input: ClaimInput = {
      requestId: runtime.uuid(),
      workerId,
      workerInstanceId: instanceId,
      namespace: within ?? session.namespace,
      queues,
      count: count - found.length,
      leaseTtlMs,
      isPlain: true,
      seed: randomSeed(runtime),
    }
    try {
      // Not retried: executions of a lost reply are claimed again when their leases have expired.
      const { result, blobs } = await session.batcher.run(partition, 'claimForWorker', input)
      for (const claimed of result.executions) found.push(await asLease(session, claimed, blobs))
    } catch (error) {
      // The caller gets what was claimed before.
      if (found.length === 0) throw error
      break
    }
    if (found.length >= count) break
  }
  return found
}

async function asLease(session: Session, claimed: Claimed, blobs: readonly Uint8Array[]): Promise<ClaimedLease> {
  const { executionId, fence, payload, payloadBlob, tags, journal, leaseExpiresAt, flowId } = claimed
  const { key, namespace, task, version, lane, timeoutAt } = claimed
  return {
    id: executionId,
    key,
    namespace,
    task,
    version,
    lane,
    tags: tagsToObject(tags),
    attempt: fence.attempt,
    input: decodeValue(payload, blobs[payloadBlob ?? -1]),
    inputs: flowId === undefined ? undefined : (await readDescription(session, executionId, { inputs: true })).inputs,
    idempotencyKey: idempotencyKeyOf(claimed),
    stepCount: journal?.stepCount ?? 0,
    lease: leaseText(fence),
    expiresAt: leaseExpiresAt,
    timeoutAt,
  }
}

function checkBytes(text: string, field: string, maximum: number): string {
  if (Buffer.byteLength(text) <= maximum) return text
  throw invalidInput(field, `${field} has more than ${maximum} bytes: shorten it.`)
}
