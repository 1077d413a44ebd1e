/**
 * Waits of executions that a worker runs without a connection to the store. A wait that has no answer suspends the execution and ends
 * its lease. When it resumes, another claim gets it, and the handler reaches the same wait again and gets its answer.
 */
import { shape } from '../../options/shape.ts'
import { WAITPOINT_EXPIRY_MAX_MS, isMailbox } from '../../kernel/index.ts'
import type { Instant, Step, WaitpointView } from '../../kernel/index.ts'
import { EngineError } from '../../kernel/engine-error.ts'
import { invalidInput } from '../checks/names.ts'
import { decodeValue } from '../checks/payload.ts'
import { checkWaitpointKey } from '../checks/signal-names.ts'
import { checkStepName } from '../checks/step-names.ts'
import type { TokenOptions, WaitpointOptions } from '../define/context.ts'
import { parseDuration } from '../define/duration.ts'
import type { Duration } from '../define/duration.ts'
import { sleepPlan } from '../define/plain-waits.ts'
import { WAITABLE } from '../define/waitable.ts'
import type { ReceivedSignal, WaitOutcome, WaitPlan, Waitable } from '../define/waitable.ts'
import { checkTokenOptions, tokenFor } from '../journal/journal-calls.ts'
import type { Session } from '../session.ts'
import { unwrap } from '../transport/unwrap.ts'
import { endingLease } from './ending-lease.ts'
import { fenced } from './fenced.ts'

/** A waitpoint that a handler has opened, with the tokens that were asked for. */
export interface OpenedWaitpoint {
  readonly key: string
  readonly isOpen: boolean
  readonly expiresAt: Instant | undefined
  readonly tokens: readonly string[]
}

/** What a handler does next: it ends without a report, or continues with the answer. */
export type LeaseWaited<Answer> =
  | { readonly kind: 'suspended' | 'already_suspended'; readonly until: Instant | undefined }
  | { readonly kind: 'cancelled' | 'already_cancelled' }
  | { readonly kind: 'answered'; readonly answer: Answer }

const waitpointOptions = shape<WaitpointOptions>()("{ expires: '1d' }", {
  expires: (value, field) => {
    const ms = parseDuration(value, field, 1)
    if (ms <= WAITPOINT_EXPIRY_MAX_MS) return ms
    throw invalidInput(field, `${field} is ${ms} ms, but must be at most ${WAITPOINT_EXPIRY_MAX_MS} ms.`)
  },
})

export class LeaseWaits {
  readonly #session: () => Session

  constructor(session: () => Session) {
    this.#session = session
  }

  /** Sleeps under a name, without a worker. */
  async sleep(id: string, lease: string, name: string, duration: Duration): Promise<LeaseWaited<undefined>> {
    const plan = { ...sleepPlan(parseDuration(duration, 'sleep')), unlessUnwinding: true }
    return await this.#suspend(
      id,
      lease,
      'sleep',
      name,
      () => plan,
      () => Promise.resolve(undefined),
    )
  }

  /**
   * Waits for signals, as `ctx.waitFor` does. The name may be that of the signal or waitpoint. `isQuestion` if compensations may
   * begin the wait, too.
   */
  async waitFor<Answer>(
    id: string,
    lease: string,
    name: string | undefined,
    waitable: Waitable<Answer>,
    { isQuestion = false }: { readonly isQuestion?: boolean } = {},
  ): Promise<LeaseWaited<Answer>> {
    const { name: ownName, plan, answer } = waitable[WAITABLE]
    const given = name ?? ownName
    if (given === undefined) throw invalidInput('name', 'This wait has no name of its own: name it.')
    const planOf = (stepName: string) => ({ ...plan(stepName), unlessUnwinding: !isQuestion })
    return await this.#suspend(id, lease, 'wait', given, planOf, async (step) =>
      answer(await outcomeOf(this.#session(), id, step)),
    )
  }

  /** Opens a waitpoint, to which signals can be sent before the handler waits for them. Repeated, it finds the same one. */
  async openWaitpoint(
    id: string,
    lease: string,
    key: string,
    { tokens = [], ...options }: WaitpointOptions & { readonly tokens?: readonly TokenOptions[] } = {},
  ): Promise<OpenedWaitpoint> {
    const session = this.#session()
    for (const each of tokens) checkTokenOptions(session, each)
    const signer = tokens.length === 0 ? session.tokens : await session.tokens.confirm()
    const input = {
      ...fenced(session, id, lease),
      target: checkWaitpointKey(key, 'key'),
      expiresInMs: waitpointOptions(options).expires,
      keyId: tokens.length === 0 ? signer.keyId : signer.requireKeyId(),
      nonce: session.runtime.uuid(),
    }
    const { waitpoint } = unwrap((await session.run(input.executionId, 'createWaitpoint', input)).result)
    return opened(session, id, waitpoint, tokens)
  }

  async #suspend<Answer>(
    id: string,
    lease: string,
    stepKind: 'wait' | 'sleep',
    givenName: string,
    planOf: (name: string) => WaitPlan & { readonly unlessUnwinding: boolean },
    answer: (step: Step) => Promise<Answer>,
  ): Promise<LeaseWaited<Answer>> {
    const session = this.#session()
    const name = checkStepName(givenName)
    const signing = { keyId: session.tokens.keyId, nonce: session.runtime.uuid() }
    const plan = { stepKind, name, ...planOf(name), ...signing }
    const result = await endingLease(
      session,
      id,
      lease,
      async (holder) =>
        unwrap((await session.run(holder.executionId, 'suspendExecution', { ...holder, ...plan })).result),
      ({ kind }) => kind === 'answered',
    )
    if (result.kind === 'answered') return { kind: 'answered', answer: await answer(result.step) }
    return 'until' in result ? { kind: result.kind, until: result.until } : { kind: result.kind }
  }
}

function opened(session: Session, id: string, view: WaitpointView, tokens: readonly TokenOptions[]): OpenedWaitpoint {
  const { target: key, isOpen, expiresAt } = view
  return { key, isOpen, expiresAt, tokens: tokens.map((options) => tokenFor(session, id, view, options)) }
}

async function outcomeOf(session: Session, id: string, { name, state, wait }: Step): Promise<WaitOutcome> {
  if (state.phase !== 'closed' || state.how === 'ended') {
    throw new EngineError('corruption', { step: name, message: `The record of wait '${name}' has no end.` })
  }
  const { how, by, reason, at } = state
  return { how, by, reason, at, signals: await signalsOf(session, id, wait?.satisfiers ?? []), asks: wait?.asks }
}

/** Reads signals by their numbers. Each read brings the ones that follow, too. */
async function signalsOf(session: Session, id: string, sequences: readonly number[]): Promise<ReceivedSignal[]> {
  const executionId = session.resolve(id)
  const known = new Map<number, ReceivedSignal>()
  const found: ReceivedSignal[] = []
  for (const sequence of sequences) {
    if (!known.has(sequence)) {
      const { result, blobs } = await session.run(executionId, 'readSignals', {
        executionId,
        from: sequence,
        payloads: true,
      })
      for (const { signal, payloadBlob } of unwrap(result).signals) {
        known.set(signal.sequence, {
          name: signal.name,
          waitpoint: isMailbox(signal.target) ? undefined : signal.target,
          value: decodeValue(signal.payload, blobs[payloadBlob ?? -1]),
          by: { type: signal.source.type, identity: signal.source.identity },
          at: signal.at,
          sequence: signal.sequence,
        })
      }
    }
    const signal = known.get(sequence)
    if (signal === undefined) throw new EngineError('corruption', { message: `Signal ${sequence} is missing.` })
    found.push(signal)
  }
  return found
}
