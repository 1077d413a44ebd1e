/** What a worker without a connection to the store gets of an execution that it has claimed. */
import { EngineError } from '../../kernel/engine-error.ts'
import { REFUSAL_LIMIT_DEFAULT, REFUSING_BUILD_LIMIT_DEFAULT } from '../../kernel/limits.ts'
import type { Claimed, ExecutionId, Instant } from '../../kernel/index.ts'
import { SealedValue, UNREADABLE_CODES } from '../../stores/opened-value.ts'
import { tagsToObject } from '../checks/names.ts'
import type { Tags } from '../checks/names.ts'
import { decodeValue } from '../checks/payload.ts'
import { readDescription } from '../executions/execution-reads.ts'
import type { Session } from '../session.ts'
import { unwrap } from '../transport/unwrap.ts'
import { endingLease } from './ending-lease.ts'
import { idempotencyKeyOf } from './idempotency-key.ts'
import { permitsOfClaim } from './lease-permits.ts'
import { leaseText } from './lease-text.ts'
import type { LeaseUnwinding } from './lease-undo.ts'

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
  /** Set if the condition of its node is still to be evaluated: the handler runs only if it is met. */
  readonly condition: LeaseCondition | undefined
  /** Set if the handler runs to undo its steps. */
  readonly unwinding: LeaseUnwinding | undefined
  /** How many compensations its earlier runs have registered. */
  readonly compensationCount: number
  readonly lease: string
  readonly expiresAt: Instant
  /** When the attempt exceeds its time limit. */
  readonly timeoutAt: Instant | undefined
}

export interface LeaseCondition {
  /** The name of the flow. */
  readonly flow: string
  readonly node: string
  /** The input of the flow. */
  readonly input: unknown
}

/** The build of a program that has no name. */
const BUILD = 'unnamed'

/**
 * Returns a claimed execution with its values. One with a value that this process cannot read, such as a server without the key, is
 * offered to other workers with a growing delay, and undefined is returned.
 */
export async function readableLease(
  session: Session,
  claimed: Claimed,
  blobs: readonly Uint8Array[],
): Promise<ClaimedLease | undefined> {
  const { executionId, fence } = claimed
  const lease = leaseText(fence, { permits: permitsOfClaim(claimed), spends: claimed.budgets.length > 0 })
  try {
    return await leaseOf(session, claimed, blobs, lease)
  } catch (error) {
    if (!(error instanceof EngineError) || !UNREADABLE_CODES.has(error.code)) throw error
    const refusal = { build: BUILD, countLimit: REFUSAL_LIMIT_DEFAULT, buildLimit: REFUSING_BUILD_LIMIT_DEFAULT }
    await endingLease(session, executionId, lease, async (holder) =>
      unwrap(
        (await session.run(executionId, 'releaseExecution', { ...holder, reason: error.message, refusal })).result,
      ),
    )
    return undefined
  }
}

async function leaseOf(
  session: Session,
  claimed: Claimed,
  blobs: readonly Uint8Array[],
  lease: string,
): Promise<ClaimedLease> {
  const { executionId, fence, payload, payloadBlob, tags, journal, leaseExpiresAt } = claimed
  const { key, namespace, task, version, lane, timeoutAt, unwinding } = claimed
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
    inputs: claimed.flowId === undefined ? undefined : await readableInputs(session, executionId),
    idempotencyKey: idempotencyKeyOf(claimed),
    stepCount: journal?.stepCount ?? 0,
    condition: conditionOf(claimed, blobs),
    unwinding,
    compensationCount: journal?.compensationCount ?? 0,
    lease,
    expiresAt: leaseExpiresAt,
    timeoutAt,
  }
}

function conditionOf({ condition, node = '' }: Claimed, blobs: readonly Uint8Array[]): LeaseCondition | undefined {
  if (condition === undefined) return undefined
  const { flow, input, inputBlob } = condition
  return { flow, node, input: decodeValue(input, blobs[inputBlob ?? -1]) }
}

/** Returns the results of the upstreams of a member. Throws if this process cannot read one of them. */
export async function readableInputs(session: Session, executionId: ExecutionId): Promise<ClaimedLease['inputs']> {
  const { inputs } = await readDescription(session, executionId, { inputs: true })
  const sealed = Object.values(inputs ?? {}).find((value) => value instanceof SealedValue)
  if (sealed !== undefined) throw new EngineError(sealed.sealed)
  return inputs
}
