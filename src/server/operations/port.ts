/**
 * The operation port: runs the operations that remote clients ask for, each on its own. An operation is checked before it reaches the
 * kernel: it is served, its caller has the role, its input has the form, and it stays inside of the namespace of the caller.
 */
import { EngineError } from '../../kernel/engine-error.ts'
import { errorCatalogue } from '../../kernel/errors.ts'
import { SEPARATOR, isReadOperation } from '../../kernel/index.ts'
import type { Lane, OperationName, WebhookChange } from '../../kernel/index.ts'
import { checkTarget } from '../../client/index.ts'
import type { Fabric } from '../../fabric/index.ts'
import { invalidInput, show } from '../../options/invalid-input.ts'
import { copyLane } from '../../stores/lane-copy.ts'
import { sweepWorker } from '../../stores/worker-sweep.ts'
import { allPartitions } from '../../stores/partitions.ts'
import { EVENT_SCAN_MAX } from '../../stores/store.ts'
import type { EventHint, EventPage, Partition, StoredEvent } from '../../stores/store.ts'
import { PORT_CALL_MAX, PORT_VERSION } from '../../stores/remote/wire.ts'
import type { WireAnswer, WireCall, WireError, WireRequest } from '../../stores/remote/wire.ts'
import { isAtLeast } from '../auth/principal.ts'
import type { Principal } from '../auth/principal.ts'
import { publicError } from '../http/problem.ts'
import { operationAccess } from './access.ts'
import type { OperationAccess } from './access.ts'
import { checkAmountLists } from './amount-lists.ts'
import { seenBy } from './answers.ts'
import { CallContext, boundInput } from './bounds.ts'
import { withoutWakes } from './budget-wakes.ts'
import { CallerClaims, refersToApproval } from './claims-of-callers.ts'
import { checkDerivedIds } from './derived-ids.ts'
import { checkFlowId } from './new-ids.ts'
import { inputShapes, namedShapes } from './input-shapes.ts'
import { INPUT_NAME, Shapes } from './shape.ts'
import type { Checker } from './shape.ts'

type Input = Readonly<Record<string, unknown>>

/** One call with its own blobs. */
export interface PortCall extends WireCall {
  readonly bytes: readonly Uint8Array[]
}

interface PortAnswer {
  readonly answer: WireAnswer
  readonly blobs: readonly Uint8Array[]
}

/** Their inputs have ids that follow from stored records. */
const WITH_DERIVED_IDS: readonly OperationName[] = ['startChildren', 'fireSchedule', 'planSchedule']
const EVENT_PAGE_MAX = 1_000
const FACT_MAX = 10_000
const TEXT_COUNT_MAX = 100

export class OperationPort {
  readonly #fabric: Fabric
  readonly #partitions: ReadonlySet<string>
  readonly #shapes = new Shapes(namedShapes)
  readonly #checkers = new Map<OperationName, Checker>()
  readonly #claims: CallerClaims

  constructor(fabric: Fabric) {
    this.#fabric = fabric
    this.#claims = new CallerClaims(fabric)
    this.#partitions = new Set(allPartitions(fabric.store.settings))
  }

  /** Returns one answer for each call, in order. A call that is refused changes nothing for the others. */
  run(calls: readonly PortCall[], principal: Principal): Promise<PortAnswer[]> {
    return Promise.all(calls.map((call) => this.#answer(call, principal)))
  }

  #answer(call: PortCall, principal: Principal): Promise<PortAnswer> {
    try {
      return this.#run(call, principal).catch(refusal)
    } catch (error) {
      return Promise.resolve(refusal(error))
    }
  }

  /** Throws what is refused before the kernel runs. */
  #run({ operation, partition: name, input: given, bytes }: PortCall, principal: Principal): Promise<PortAnswer> {
    const input = given as Input
    const partition = this.#checkPartition(name)
    if (operation === 'readEvents') return this.#readEvents(partition, input, principal).then(plainAnswer)
    if (operation === 'recordFacts') return this.#recordFacts(input, principal).then(plainAnswer)
    if (operation === 'findFacts') return this.#findFacts(input, principal).then(plainAnswer)
    const access = accessOf(operation)
    if (access === undefined) {
      const message = `The operation ${show(operation)} is not served over HTTP: run it with the location of the store.`
      throw new EngineError('forbidden', { message })
    }
    const own = operation as OperationName
    refuseUnlessAllowed(own, access, input, principal)
    const { namespace } = principal
    const { executionPartitions } = this.#fabric.store.settings
    const context = new CallContext({ operation: own, partition, input, bytes }, namespace, executionPartitions)
    this.#checkerOf(own)(input, INPUT_NAME, context)
    checkAmountLists(own, input)
    if (own === 'submitFlow' || own === 'createFlow') checkFlowId(input, executionPartitions)
    if (own === 'changeWebhook') checkWebhook(input['change'] as WebhookChange)
    const { batcher } = this.#fabric
    // The codec of the caller has sealed the values, and opens the answers.
    const run = (checked: Input) =>
      batcher.runAsStored(partition, own, boundInput(own, checked, access, namespace), bytes)
    const isDerived = namespace !== undefined && WITH_DERIVED_IDS.includes(own)
    const checks = isDerived
      ? checkDerivedIds(batcher, { operation: own, partition, input }).then(() => input)
      : this.#claims.check(own, input, principal)
    const ran = checks === undefined ? run(input) : checks.then(run)
    if (own === 'configureLane' || own === 'markWorkerDead') {
      return ran.then(async ({ result }) => plainAnswer(await this.#completed(own, result, input)))
    }
    return ran.then(async ({ result, blobs }) => {
      const seen = namespace === undefined ? result : await withoutWakes(batcher, own, input, result)
      return { answer: { result: seenBy(principal, seen), blobs: blobs.length }, blobs }
    })
  }

  /** Does at once what an engine would do later, with operations that are not served. */
  async #completed(operation: OperationName, result: object, input: Input): Promise<object> {
    const { batcher } = this.#fabric
    if (operation === 'configureLane' && 'lane' in result) {
      const lane = result.lane as Lane
      if (lane.isCopying === true) await copyLane(batcher, lane)
      return { ...result, lane: { ...lane, isCopying: undefined } }
    }
    if (operation === 'markWorkerDead' && 'isSwept' in result && result.isSwept === false) {
      const { at } = result as unknown as { readonly at: number }
      const { workerInstanceId, reason, by } = input as { workerInstanceId: string; reason: string; by?: string }
      await sweepWorker(batcher, {
        workerInstanceId,
        workerId: '',
        since: at,
        silentMs: undefined,
        leaseTtlMs: 0,
        reason,
        by,
      })
      return { ...result, isSwept: true }
    }
    return result
  }

  #checkPartition(name: string): Partition {
    if (this.#partitions.has(name)) return name as Partition
    throw invalidInput('partition', `The store has no partition ${show(name)}.`)
  }

  #checkerOf(operation: OperationName): Checker {
    let checker = this.#checkers.get(operation)
    if (checker === undefined) {
      checker = this.#shapes.compile(inputShapes[operation])
      this.#checkers.set(operation, checker)
    }
    return checker
  }

  /** Events of other namespaces have nothing but their numbers, types and times, so that positions stay the same. */
  async #readEvents(partition: Partition, { after, limit, hint }: Input, { namespace }: Principal): Promise<EventPage> {
    const from = wholeNumber(after, 'after', Number.MAX_SAFE_INTEGER)
    const count = wholeNumber(limit, 'limit', EVENT_PAGE_MAX)
    const wanted = hintIn(hint)
    const { store } = this.#fabric
    if (namespace === undefined) return await store.readEvents(partition, from, count, wanted)
    if (wanted === undefined) return blanked(await store.readEvents(partition, from, count), namespace)
    // Which events of other namespaces have a text, neither their places nor the end of the page may tell.
    const page = await store.readEvents(partition, from, EVENT_SCAN_MAX, wanted)
    const isShown = (event: StoredEvent, i: number) =>
      event.namespace === namespace || i === 0 || i === page.events.length - 1
    return blanked({ ...page, events: page.events.filter(isShown).slice(0, count) }, namespace)
  }

  async #recordFacts(input: Input, principal: Principal): Promise<object> {
    if (!isAtLeast(principal.role, 'admin') || principal.namespace !== undefined) {
      throw new EngineError('forbidden', { message: 'It needs the role admin in all namespaces.' })
    }
    await this.#fabric.store.recordFacts('retired_key', factNames(input))
    return {}
  }

  async #findFacts(input: Input, principal: Principal): Promise<object> {
    if (!isAtLeast(principal.role, 'worker'))
      throw new EngineError('forbidden', { message: 'It needs the role worker.' })
    return { names: await this.#fabric.store.findFacts('retired_key', factNames(input)) }
  }
}

/** Returns the calls of a batch. Throws `invalid_input` if it has another form. */
export function callsIn(head: unknown, blobs: readonly Uint8Array[]): PortCall[] {
  const { version, calls } = (head ?? {}) as Partial<WireRequest>
  if (version !== PORT_VERSION) {
    throw invalidInput(
      'version',
      `The version of the batch is ${show(version)}, and the server speaks ${PORT_VERSION}.`,
    )
  }
  if (!Array.isArray(calls) || calls.length === 0 || calls.length > PORT_CALL_MAX) {
    throw invalidInput('calls', `calls must be a list of 1 to ${PORT_CALL_MAX} calls.`)
  }
  let at = 0
  const found = calls.map((given: unknown): PortCall => {
    const { partition, operation, input, blobs: count } = (given ?? {}) as Partial<WireCall>
    const isCall = typeof partition === 'string' && typeof operation === 'string' && isObject(input)
    if (!isCall || typeof count !== 'number' || !Number.isSafeInteger(count) || count < 0) {
      throw invalidInput('calls', 'A call has a partition, an operation, an input and a number of blobs.')
    }
    const bytes = blobs.slice(at, at + count)
    at += count
    return { partition, operation, input, blobs: count, bytes }
  })
  if (at !== blobs.length) throw invalidInput('calls', `The calls have ${at} blobs, and the batch has ${blobs.length}.`)
  return found
}

/** Whether a call changes something with the authority of an operator. */
export function isAct(operation: string, input: object): boolean {
  const access = accessOf(operation)
  if (access === undefined || isReadOperation(operation as OperationName)) return false
  return isAtLeast(neededAccess(operation as OperationName, access, input as Input).role, 'operator')
}

function accessOf(operation: string): OperationAccess | undefined {
  return Object.hasOwn(operationAccess, operation) ? operationAccess[operation as OperationName] : undefined
}

/** Where a webhook may point, its deliveries check. What is no URL at all could not be shown. */
function checkWebhook(change: WebhookChange): void {
  if (change.kind === 'define') checkTarget(change.url, true)
}

/** Engine-made cancels, which a worker asks for in the name of a limit or a budget. */
const WORKER_CANCELS: readonly unknown[] = ['limit', 'budget']
const OPERATOR_SOURCES: readonly unknown[] = ['operator', 'engine']

function refuseUnlessAllowed(
  operation: OperationName,
  access: OperationAccess,
  input: Input,
  principal: Principal,
): void {
  const { role, scope } = neededAccess(operation, access, input)
  if (!isAtLeast(principal.role, role)) {
    throw new EngineError('forbidden', {
      message: `The operation ${operation} needs the role ${role}, and '${principal.name}' has the role ${principal.role}.`,
    })
  }
  if (scope === 'namespace' || principal.namespace === undefined) return
  throw new EngineError('forbidden', {
    message: `The operation ${operation} concerns all namespaces, and '${principal.name}' reaches only '${principal.namespace}'.`,
  })
}

function neededAccess(
  operation: OperationName,
  access: OperationAccess,
  input: Input,
): Pick<OperationAccess, 'role' | 'scope'> {
  const { role, scope, asHolder } = access
  if (asHolder !== undefined && isObject(input['fence'])) return { role: asHolder, scope }
  switch (operation) {
    case 'cancelExecution':
      return input['force'] === false && WORKER_CANCELS.includes(input['by']) ? { role: 'worker', scope } : access
    case 'defineLimit':
    case 'defineBudget':
      return input['isDeclared'] === true ? { role: 'worker', scope: 'namespace' } : access
    case 'raiseBudget':
      return refersToApproval(input['requestId']) ? { role: 'worker', scope: 'namespace' } : access
    case 'deliverSignal': {
      const { type } = (input['source'] ?? {}) as { readonly type?: unknown }
      return OPERATOR_SOURCES.includes(type) ? { role: 'operator', scope } : access
    }
    case 'renewConsumer': {
      // The ids of webhooks have a third part. Their deliveries need secrets that only admins get.
      const isWebhook = typeof input['consumerId'] === 'string' && input['consumerId'].split(SEPARATOR).length > 2
      return isWebhook ? { role: 'admin', scope } : access
    }
    case 'readCharges':
      return input['account'] === undefined ? access : { role, scope: 'store' }
    default:
      return access
  }
}

function refusal(thrown: unknown): PortAnswer {
  return { answer: { error: wireError(thrown) }, blobs: [] }
}

/** Failures of the server and its store are described by their code alone: their messages may name hosts and files. */
function wireError(thrown: unknown): WireError {
  const { code, detail } = publicError(thrown)
  return errorCatalogue[code].status < 500 ? { code, detail } : { code }
}

function blanked(page: EventPage, namespace: string): EventPage {
  return { ...page, events: page.events.map((event) => (event.namespace === namespace ? event : blankEvent(event))) }
}

function blankEvent({ sequence, type, at }: StoredEvent): StoredEvent {
  return { sequence, type, at, executionId: '', namespace: '', task: '', lane: '', tags: [] } as unknown as StoredEvent
}

function plainAnswer(result: object): PortAnswer {
  return { answer: { result, blobs: 0 }, blobs: [] }
}

function hintIn(hint: unknown): EventHint | undefined {
  if (hint === undefined) return undefined
  const { types, texts } = (hint ?? {}) as Partial<EventHint>
  if (isTextList(texts) && (types === undefined || isTextList(types))) return { types, texts }
  throw invalidInput('hint', 'hint must have a list of texts, and may have a list of types.')
}

function isTextList(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.length <= TEXT_COUNT_MAX && value.every((each) => typeof each === 'string')
}

function factNames({ kind, names }: Input): string[] {
  const isList = Array.isArray(names) && names.length <= FACT_MAX
  if (kind !== 'retired_key' || !isList || !names.every((name) => typeof name === 'string' && name.length <= 512)) {
    throw invalidInput('names', `names must be at most ${FACT_MAX} ids of keys.`)
  }
  return names as string[]
}

function wholeNumber(value: unknown, name: string, maximum: number): number {
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 && value <= maximum) return value
  throw invalidInput(name, `${name} is ${show(value)}, but must be a whole number up to ${maximum}.`)
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
