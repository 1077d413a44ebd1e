/** Limits as operators and programs manage them: defined, changed live, inspected, held back and deleted by name. */
import { LIMIT_HOLD_MAX_MS } from '../../kernel/index.ts'
import { required, shape } from '../../options/shape.ts'
import { limitPartition } from '../../stores/partitions.ts'
import { checkKey, checkNamespace, checkPrincipal, checkReason, checkTaskName, invalidInput } from '../checks/names.ts'
import { parseDuration } from '../define/duration.ts'
import type { Duration } from '../define/duration.ts'
import type { Session } from '../session.ts'
import { unwrap } from '../transport/unwrap.ts'
import { describeLimit, keyIn, listLimits, readUses } from './limit-listing.ts'
import type { DescribeLimitOptions, LimitDescription, LimitInfo, LimitUse } from './limit-listing.ts'
import { limitTerms } from '../define/limit.ts'
import type { LimitOptions } from '../define/limit.ts'
import { deliverWakes, wakeBlocked } from '../../stores/deliver-wakes.ts'

/** Who changes a limit, and why. */
export interface LimitChange {
  readonly by?: string
  /** Shown with the limit. */
  readonly reason?: string
}

export interface LimitKeyOptions {
  /** The key, such as a tenant. Without it, the use without a key. */
  readonly key?: string
  /** The namespace of the key; that of the fabric unless given. */
  readonly namespace?: string
}

export interface HoldLimitOptions extends LimitKeyOptions, LimitChange {
  /** How long: a day at most. */
  readonly for: Duration
}

export interface LimitHeld {
  /** `already_held`: it was held for longer. */
  readonly kind: 'held' | 'already_held'
  /** How long the key is held from now. */
  readonly forMs: number
}

const changeChecks = { by: checkPrincipal, reason: checkReason }
const limitChange = shape<LimitChange>()("{ reason: 'a larger plan' }", changeChecks)
const holdOptions = shape<HoldLimitOptions>()("{ for: '5m', key: 'acme' }", {
  ...changeChecks,
  key: checkLimitKey,
  namespace: checkNamespace,
  for: required(checkHold),
})
const keyOptions = shape<LimitKeyOptions>()("{ key: 'acme' }", {
  key: checkLimitKey,
  namespace: checkNamespace,
})

const UNNAMED = 'client'

export class LimitCalls {
  readonly #session: () => Session

  /** `session` throws once the client is closed. */
  constructor(session: () => Session) {
    this.#session = session
  }

  /**
   * Defines a limit, or changes it live: the next admission of every key obeys the change, and blocked work that has room
   * now is woken. A limit that was deleted applies again.
   *
   * @example
   * await fabric.limits.define('openai', { perMinute: 800, concurrency: 50 }, { by: 'ada', reason: 'a larger plan' })
   */
  async define(
    name: string,
    options: LimitOptions,
    change: LimitChange = {},
  ): Promise<'defined' | 'changed' | 'unchanged'> {
    const session = this.#session()
    const { by = UNNAMED, reason } = limitChange(change, 'change')
    const input = { name: checkLimitName(name), ...limitTerms(options), by, reason }
    const { result } = await session.runIn(limitPartition(name, session.settings), 'defineLimit', input)
    if (result.kind === 'already_satisfied') return 'unchanged'
    if (result.kind === 'limit_defined') return 'defined'
    await wakeBlocked(session.batcher, name)
    return 'changed'
  }

  /** Deletes a limit: it limits nothing from now on, and what it has blocked is woken. */
  async delete(name: string, change: LimitChange = {}): Promise<'deleted' | 'already_deleted'> {
    const session = this.#session()
    const { by = UNNAMED, reason } = limitChange(change, 'change')
    const partition = limitPartition(checkLimitName(name), session.settings)
    const { kind } = unwrap((await session.runIn(partition, 'deleteLimit', { name, by, reason })).result)
    // Also if it was deleted before: that call may not have woken everything.
    await wakeBlocked(session.batcher, name)
    return kind === 'limit_deleted' ? 'deleted' : 'already_deleted'
  }

  /** Lists the limits of the store, by name. */
  async list(): Promise<LimitInfo[]> {
    return await listLimits(this.#session())
  }

  /**
   * Returns how full the first 100 limits are.
   * @internal
   */
  async uses(): Promise<LimitUse[]> {
    return await readUses(this.#session())
  }

  /**
   * Describes a limit with the usage of its keys, the busiest first, page by page. With `key`, only that key, and the workers
   * that hold permits of it.
   */
  async describe(name: string, options: DescribeLimitOptions = {}): Promise<LimitDescription> {
    return await describeLimit(this.#session(), checkLimitName(name), options)
  }

  /**
   * Holds back one key of a limit for all workers, for example after an announcement of its provider. Running executions continue.
   *
   * @example
   * await fabric.limits.hold('openai', { key: 'acme', for: '5m', by: 'ada', reason: 'the provider is down' })
   */
  async hold(name: string, options: HoldLimitOptions): Promise<LimitHeld> {
    const session = this.#session()
    const { key: given = '', namespace, for: retryAfterMs, by = UNNAMED, reason } = holdOptions(options)
    const key = keyIn(session, given, namespace)
    const input = { limit: checkLimitName(name), key, retryAfterMs, by, reason }
    const { result } = await session.runIn(limitPartition(name, session.settings), 'holdLimit', input)
    const held = unwrap(result)
    return { kind: held.kind === 'limit_held' ? 'held' : 'already_held', forMs: held.retryAfterMs }
  }

  /** Ends the hold of a key before its time, and wakes the work that waits for it. */
  async unhold(name: string, options: LimitKeyOptions = {}): Promise<'lifted' | 'not_held'> {
    const session = this.#session()
    const { key: given = '', namespace } = keyOptions(options)
    const key = keyIn(session, given, namespace)
    const input = { limit: checkLimitName(name), key }
    const lifted = unwrap((await session.runIn(limitPartition(name, session.settings), 'liftHold', input)).result)
    if (lifted.kind === 'limit_not_held') return 'not_held'
    await deliverWakes(
      session.batcher,
      name,
      lifted.wakes.map((wake) => ({ ...wake, key })),
    )
    return 'lifted'
  }
}

function checkLimitName(value: unknown): string {
  return checkTaskName(value, 'limit name')
}

function checkLimitKey(value: unknown, field: string): string {
  return value === '' ? value : checkKey(value, field)
}

function checkHold(value: unknown, field: string): number {
  const ms = parseDuration(value, field, 1)
  if (ms <= LIMIT_HOLD_MAX_MS) return ms
  throw invalidInput(field, `${field} is ${ms} ms, but must be at most ${LIMIT_HOLD_MAX_MS} ms, which is a day.`)
}
