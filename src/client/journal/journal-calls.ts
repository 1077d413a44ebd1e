/**
 * The calls that concern waits and signals, as unions: what the kernel returned, refusals included. A program with access to
 * the store may name any sender. The holder of a token sends as the token's principal.
 */
import { boolean, oneOf, required, shape } from '../../options/shape.ts'
import { SIGNAL_PAYLOAD_BYTES, mailboxOf, refused } from '../../kernel/index.ts'
import type {
  CloseWaitpointResult,
  DeliverSignalInput,
  DeliverSignalResult,
  ExecutionId,
  Refused,
  ReissueWaitpointResult,
  ResumeResult,
  SourceType,
  WaitpointView,
} from '../../kernel/index.ts'
import { EngineError } from '../../kernel/engine-error.ts'
import { isTokenCode, resultForHolder } from './answer-result.ts'
import type { AnswerResult, TokenCode } from './answer-result.ts'
import { isExecutionId } from '../transport/ids.ts'
import { checkPrincipal, checkReason, invalidInput } from '../checks/names.ts'
import { checkRecordedName } from '../checks/step-names.ts'
import { encodeValue } from '../checks/payload.ts'
import { principalOf } from '../checks/visible-text.ts'
import { checkSignalKey, checkSignalName, checkWaitpointKey, keyForHolder } from '../checks/signal-names.ts'
import { optionalClaims } from '../tokens/token-options.ts'
import type { TokenOptions } from '../define/context.ts'
import type { Session } from '../session.ts'
import type { TokenSigner, VerifiedToken } from '../tokens/token.ts'

/** The effect of a signal, and its number in the execution. */
export type SignalReceipt = Exclude<DeliverSignalResult, Refused>

export interface SignalSendOptions {
  /** Your own idempotency key: a signal sent twice with one key counts once. */
  readonly key?: string
  /** The sender; `client` unless given. A program with access to the store is trusted to name it. */
  readonly by?: string
  /** The key of the waitpoint that it is sent to, such as the name of an approval. The mailbox of its name unless given. */
  readonly waitpoint?: string
  /** The authority of the sender; `caller` unless given. */
  readonly as?: Extract<SourceType, 'caller' | 'operator'>
}

const sendOptions = shape<SignalSendOptions>()("{ waitpoint: 'review', by: 'ada', key: 'vote:17' }", {
  key: checkSignalKey,
  by: checkPrincipal,
  waitpoint: checkWaitpointKey,
  as: oneOf<NonNullable<SignalSendOptions['as']>>({ caller: true, operator: true }),
})

export interface AnswerOptions {
  /** Your own idempotency key: an answer sent twice with one key counts once. */
  readonly key?: string
}

const answerOptions = shape<AnswerOptions>()("{ key: 'vote:17' }", { key: checkSignalKey })

export interface CloseWaitpointOptions {
  readonly by: string
  readonly reason?: string
  /** Closes even the last open waitpoint of the current wait. */
  readonly force?: boolean
}

const closeOptions = shape<CloseWaitpointOptions>()("{ by: 'ada', reason: 'the order was withdrawn' }", {
  by: required(checkPrincipal),
  reason: checkReason,
  force: boolean,
})

export interface ResumeOptions {
  readonly by: string
  readonly reason?: string
  /** The name of the wait to end; the current one unless given. */
  readonly step?: string
}

const resumeOptions = shape<ResumeOptions>()("{ by: 'ada', reason: 'decided by phone' }", {
  by: required(checkPrincipal),
  reason: checkReason,
  step: checkRecordedName,
})

export interface ReissueOptions extends TokenOptions {
  /** Who requests it; `client` unless given. */
  readonly by?: string
}

/**
 * Sends a signal to an execution: to the mailbox of the signal's name, or to a waitpoint. A signal that arrives before its
 * wait is buffered.
 */
async function signal(
  session: Session,
  idOrKey: string,
  name: string,
  value?: unknown,
  options: SignalSendOptions = {},
): Promise<DeliverSignalResult> {
  const executionId = session.resolve(idOrKey)
  const { key, by = 'client', waitpoint, as = 'caller' } = sendOptions(options)
  checkSignalName(name, 'signal name')
  const target = waitpoint ?? mailboxOf(name)
  const source = { type: as, identity: by }
  return await deliver(session, { executionId, target, key: keyOf(session, key), name, source }, value)
}

/**
 * Sends a signal to the waitpoint of a token, as the token's principal. A token that is not genuine is always refused with
 * `invalid_token`, whether or not the waitpoint exists.
 */
async function answer(
  session: Session,
  token: string,
  name: string,
  value?: unknown,
  options: AnswerOptions = {},
): Promise<AnswerResult> {
  const key = keyOf(session, answerOptions(options).key)
  checkSignalName(name, 'signal name')
  const verified = verifyToken(await session.tokens.confirm(), token)
  if ('kind' in verified) return verified
  const { executionId, target, waitpointId, generation, openedAt, nonce, names } = verified
  // A token of an earlier version may name a principal that would not be accepted now.
  const sub = verified.sub === undefined ? '' : principalOf(verified.sub)
  if (sub === undefined) return refused('invalid_token', {})
  if (names !== undefined && !names.includes(name)) {
    throw invalidInput('signal name', `This token may only send ${names.map((each) => `'${each}'`).join(', ')}.`)
  }
  if (!isHere(session, executionId)) return refused('invalid_token', {})
  // Keys are scoped to the sender, so that one sender cannot use up the key of another.
  const input = {
    executionId,
    target,
    key: keyForHolder(sub, key),
    name,
    source: { type: 'token', identity: sub },
    token: { waitpointId, generation, openedAt, nonce },
    // Another process has to believe that the token was verified.
    link: session.batcher.store.isRemote === true ? token : undefined,
  } as const
  return resultForHolder(await deliver(session, input, value))
}

/** Resumes a suspended execution before its wait is met. */
async function resume(session: Session, idOrKey: string, options: ResumeOptions): Promise<ResumeResult> {
  const executionId = session.resolve(idOrKey)
  return (await session.run(executionId, 'resumeExecution', { executionId, ...resumeOptions(options) })).result
}

async function closeWaitpoint(
  session: Session,
  idOrKey: string,
  waitpoint: string,
  options: CloseWaitpointOptions,
): Promise<CloseWaitpointResult> {
  const executionId = session.resolve(idOrKey)
  const { by, reason = 'closed by hand', force } = closeOptions(options)
  const input = { executionId, target: checkWaitpointKey(waitpoint), by, reason, force }
  return (await session.run(executionId, 'closeWaitpoint', input)).result
}

/** Invalidates all tokens of a waitpoint. New tokens are issued from the result. */
async function reissueWaitpoint(
  session: Session,
  idOrKey: string,
  waitpoint: string,
  by = 'client',
): Promise<ReissueWaitpointResult> {
  const executionId = session.resolve(idOrKey)
  const target = checkWaitpointKey(waitpoint)
  const signer = await session.tokens.confirm()
  const input = { executionId, target, keyId: signer.requireKeyId(), by: checkPrincipal(by, 'by') }
  return (await session.run(executionId, 'reissueWaitpoint', input)).result
}

/** Refuses options that no token can be made with, before the tokens issued earlier are invalidated. */
export function checkTokenOptions(session: Session, options: TokenOptions): void {
  optionalClaims(options, session.runtime.now())
}

/** Issues a token for a waitpoint. */
export function tokenFor(
  session: Session,
  idOrKey: string,
  { target, waitpointId, generation, createdAt: openedAt, keyId, nonce }: WaitpointView,
  options: TokenOptions,
): string {
  const claims = optionalClaims(options, session.runtime.now())
  const executionId = session.resolve(idOrKey)
  return session.tokens.issue({ executionId, waitpointId, target, generation, openedAt, keyId, nonce, ...claims })
}

/** Whether the partition exists here: stores that share keys may differ in their number of partitions. */
function isHere(session: Session, executionId: string): executionId is ExecutionId {
  if (!isExecutionId(executionId)) return false
  return Number(executionId.slice(0, executionId.indexOf('-'))) < session.settings.executionPartitions
}

function keyOf(session: Session, key: string | undefined): string {
  return key ?? session.runtime.uuid()
}

function verifyToken(signer: TokenSigner, token: string): VerifiedToken | Refused<TokenCode> {
  try {
    return signer.verify(token)
  } catch (error) {
    if (error instanceof EngineError && isTokenCode(error.code)) return refused(error.code, {})
    throw error
  }
}

async function deliver(
  session: Session,
  input: Omit<DeliverSignalInput, 'payload'>,
  value: unknown,
): Promise<DeliverSignalResult> {
  const payload = encodeValue(value, 'value', session.batcher.valueLimit(SIGNAL_PAYLOAD_BYTES))
  const blobs = payload === undefined ? [] : [payload.bytes]
  return (await session.run(input.executionId, 'deliverSignal', { ...input, payload: payload?.input }, blobs)).result
}

export const journalCalls = {
  signal,
  answer,
  resume,
  closeWaitpoint,
  reissueWaitpoint,
}
