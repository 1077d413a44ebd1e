/**
 * The calls that concern waits, signals and steps, as unions: what the kernel answered, refusals included. Whoever may use
 * the store may signal in anybody's name; whoever holds a token speaks for the token's principal, and learns nothing without.
 */
import {
  SIGNAL_PAGE_MAX,
  SIGNAL_PAYLOAD_BYTES,
  STEP_PAGE_MAX,
  WAITPOINT_PAGE_MAX,
  mailboxOf,
  refused,
} from '../../kernel/index.ts'
import type {
  CloseWaitpointResult,
  DeliverSignalInput,
  DeliverSignalResult,
  ExecutionId,
  ListWaitpointsResult,
  Position,
  Refused,
  ReissueWaitpointResult,
  ResumeResult,
  SourceType,
  WaitpointPage as WaitpointStep,
  WaitpointView,
} from '../../kernel/index.ts'
import type { Runtime } from '../../runtime/index.ts'
import type { Batcher, Reply } from '../../stores/batcher.ts'
import { EngineError } from '../../kernel/engine-error.ts'
import { executionPartition } from '../../stores/store.ts'
import { isTokenCode, toTokenHolder } from './answer-result.ts'
import type { AnswerResult, TokenCode } from './answer-result.ts'
import { FlowCalls } from '../flows/flow-calls.ts'
import { isExecutionId } from '../transport/ids.ts'
import { checkBoolean, checkOptions, checkReason, invalidInput, show } from '../checks/names.ts'
import { encodeValue } from '../checks/payload.ts'
import {
  checkIdentity,
  checkSignalKey,
  checkSignalName,
  checkWaitpointKey,
  keyOfHolder,
} from '../checks/signal-names.ts'
import { optionalClaims } from '../tokens/token-options.ts'
import type { TokenOptions } from '../define/context.ts'
import type { TokenSigner, VerifiedToken } from '../tokens/token.ts'

export interface SignalSendOptions {
  /** Your own: a signal that is sent twice with one key is taken once. */
  readonly key?: string
  /** Who says it; `client` unless given. */
  readonly by?: string
}

const SEND_KEYS = ['key', 'by'] as const satisfies readonly (keyof SignalSendOptions)[]

export interface SignalAtOptions {
  /** Who says it. A program that may use the store is trusted to know. */
  readonly by: string
  readonly key?: string
  /** With whose authority; `caller` unless given. */
  readonly as?: Extract<SourceType, 'caller' | 'operator'>
}

const SIGNAL_AT_KEYS = ['by', 'key', 'as'] as const satisfies readonly (keyof SignalAtOptions)[]

export interface AnswerOptions {
  /** Your own: an answer that is sent twice with one key is taken once. */
  readonly key?: string
}

const ANSWER_KEYS = ['key'] as const satisfies readonly (keyof AnswerOptions)[]

export interface CloseWaitpointOptions {
  readonly by: string
  readonly reason?: string
  /** Closes even the last place at which the execution could be told what it waits for. */
  readonly force?: boolean
}

const CLOSE_KEYS = ['by', 'reason', 'force'] as const satisfies readonly (keyof CloseWaitpointOptions)[]

export interface ResumeOptions {
  readonly by: string
  readonly reason?: string
  /** The name of the wait to be ended; whichever it is in, if left out. */
  readonly step?: string
}

const RESUME_KEYS = ['by', 'reason', 'step'] as const satisfies readonly (keyof ResumeOptions)[]

export interface ReissueOptions extends TokenOptions {
  /** Who asks for it; `client` unless given. */
  readonly by?: string
}

export class JournalCalls extends FlowCalls {
  protected readonly tokens: TokenSigner

  constructor(batcher: Batcher, runtime: Runtime, namespace: string, tokens: TokenSigner) {
    super(batcher, runtime, namespace)
    this.tokens = tokens
  }

  /** To the execution, by the signal's name. What comes before the wait for it is kept. */
  async signal(
    idOrKey: string,
    name: string,
    value?: unknown,
    options: SignalSendOptions = {},
  ): Promise<DeliverSignalResult> {
    const executionId = this.resolve(idOrKey)
    checkOptions(options, SEND_KEYS, "{ key: 'payment:17' }")
    const { key, by = 'client' } = options
    checkSignalName(name, 'signal name')
    const source = { type: 'caller', identity: checkIdentity(by) } as const
    return await this.#deliver({ executionId, target: mailboxOf(name), key: this.#keyOf(key), name, source }, value)
  }

  /** To one waitpoint of the execution, with the authority of a program that may use the store. */
  async signalAt(
    idOrKey: string,
    waitpoint: string,
    name: string,
    value: unknown,
    options: SignalAtOptions,
  ): Promise<DeliverSignalResult> {
    const executionId = this.resolve(idOrKey)
    checkOptions(options, SIGNAL_AT_KEYS, "{ by: 'ada' }")
    const { by, key, as = 'caller' } = options
    if (!['caller', 'operator'].includes(as)) {
      throw invalidInput('as', `as is ${show(as)}, but must be 'caller' or 'operator'.`)
    }
    const target = checkWaitpointKey(waitpoint)
    checkSignalName(name, 'signal name')
    const source = { type: as, identity: checkIdentity(by) }
    return await this.#deliver({ executionId, target, key: this.#keyOf(key), name, source }, value)
  }

  /**
   * Where a token leads, in the name of whom it was made for. Without a genuine token every answer is `invalid_token`,
   * whether or not anything is there.
   */
  async answer(token: string, name: string, value?: unknown, options: AnswerOptions = {}): Promise<AnswerResult> {
    checkOptions(options, ANSWER_KEYS, "{ key: 'vote:17' }")
    checkSignalName(name, 'signal name')
    const key = this.#keyOf(options.key)
    const verified = this.#verify(token)
    if ('kind' in verified) return verified
    const { executionId, target, waitpointId, generation, openedAt, sub = '', names } = verified
    if (names !== undefined && !names.includes(name)) {
      throw invalidInput('signal name', `This token may only send ${names.map((each) => `'${each}'`).join(', ')}.`)
    }
    if (!this.#isHere(executionId)) return refused('invalid_token', {})
    // A key is its sender's own: nobody can use up another's by sending something with it first.
    const input = {
      executionId,
      target,
      key: keyOfHolder(sub, key),
      name,
      source: { type: 'token', identity: sub },
      token: { waitpointId, generation, openedAt },
    } as const
    return toTokenHolder(await this.#deliver(input, value))
  }

  /** An operator lets a suspended execution go on without what it waits for. */
  async resume(idOrKey: string, options: ResumeOptions): Promise<ResumeResult> {
    const executionId = this.resolve(idOrKey)
    checkOptions(options, RESUME_KEYS, "{ by: 'ada', reason: 'decided by phone' }")
    const by = checkIdentity(options.by)
    const reason = options.reason === undefined ? undefined : checkReason(options.reason)
    const { step } = options
    return (await this.run(executionId, 'resumeExecution', { executionId, by, reason, step })).result
  }

  async closeWaitpoint(
    idOrKey: string,
    waitpoint: string,
    options: CloseWaitpointOptions,
  ): Promise<CloseWaitpointResult> {
    const executionId = this.resolve(idOrKey)
    checkOptions(options, CLOSE_KEYS, "{ by: 'ada', reason: 'the order was withdrawn' }")
    checkBoolean(options.force, 'force')
    const input = {
      executionId,
      target: checkWaitpointKey(waitpoint),
      by: checkIdentity(options.by),
      reason: checkReason(options.reason ?? 'closed by hand'),
      force: options.force,
    }
    return (await this.run(executionId, 'closeWaitpoint', input)).result
  }

  /** Makes every token worthless that was handed out for a waitpoint. New ones are made from what is answered. */
  async reissueWaitpoint(idOrKey: string, waitpoint: string, by = 'client'): Promise<ReissueWaitpointResult> {
    const executionId = this.resolve(idOrKey)
    const target = checkWaitpointKey(waitpoint)
    const { keyId } = this.tokens
    if (keyId === undefined) throw new EngineError('signing_keys_missing')
    const input = { executionId, target, keyId, by: checkIdentity(by) }
    return (await this.run(executionId, 'reissueWaitpoint', input)).result
  }

  /**
   * Said before older tokens are given up for a new one that could not be made.
   * @internal
   */
  checkTokenOptions(options: TokenOptions): void {
    optionalClaims(options, this.runtime.now())
  }

  /** @internal */
  tokenFor(
    idOrKey: string,
    { target, waitpointId, generation, createdAt: openedAt, keyId }: WaitpointView,
    options: TokenOptions,
  ): string {
    const claims = optionalClaims(options, this.runtime.now())
    const executionId = this.resolve(idOrKey)
    return this.tokens.issue({ executionId, waitpointId, target, generation, openedAt, keyId, ...claims })
  }

  /**
   * One page of an execution's steps, with the bytes of their values if they are wanted.
   * @internal
   */
  readSteps(idOrKey: string, from: number, values: boolean): Promise<Reply<'readSteps'>> {
    const executionId = this.resolve(idOrKey)
    return this.run(executionId, 'readSteps', { executionId, from, values, limit: STEP_PAGE_MAX })
  }

  /** @internal */
  readSignals(idOrKey: string, from: number, payloads: boolean): Promise<Reply<'readSignals'>> {
    const executionId = this.resolve(idOrKey)
    return this.run(executionId, 'readSignals', { executionId, from, payloads, limit: SIGNAL_PAGE_MAX })
  }

  /** @internal */
  async listWaitpoints(
    idOrKey: string,
    all: boolean,
    limit: number,
    cursor: Position | undefined,
  ): Promise<ListWaitpointsResult> {
    const executionId = this.resolve(idOrKey)
    return (await this.run(executionId, 'listWaitpoints', { executionId, all, limit, cursor })).result
  }

  /**
   * One step of a listing in one partition.
   * @internal
   */
  async openWaitpointsStep(partition: number, limit: number, cursor: Position | undefined): Promise<WaitpointStep> {
    const input = { limit: Math.min(limit, WAITPOINT_PAGE_MAX), cursor }
    return (await this.ask(executionPartition(partition), 'listOpenWaitpoints', input)).result
  }

  /** Stores that share their keys may differ in their partitions. */
  #isHere(executionId: string): executionId is ExecutionId {
    if (!isExecutionId(executionId)) return false
    return Number(executionId.slice(0, executionId.indexOf('-'))) < this.settings.executionPartitions
  }

  #keyOf(key: string | undefined): string {
    return key === undefined ? this.runtime.uuid() : checkSignalKey(key)
  }

  #verify(token: string): VerifiedToken | Refused<TokenCode> {
    try {
      return this.tokens.verify(token)
    } catch (error) {
      if (error instanceof EngineError && isTokenCode(error.code)) return refused(error.code, {})
      throw error
    }
  }

  async #deliver(input: Omit<DeliverSignalInput, 'payload'>, value: unknown): Promise<DeliverSignalResult> {
    const payload = encodeValue(value, 'value', SIGNAL_PAYLOAD_BYTES)
    const blobs = payload === undefined ? [] : [payload.bytes]
    return (await this.run(input.executionId, 'deliverSignal', { ...input, payload: payload?.input }, blobs)).result
  }
}
