/**
 * Checks what a caller says about itself: in whose name it sends a signal, for which execution it spends, and which worker it is. The kernel
 * believes programs with access to the store. The credential of a remote one may be of less authority than what it says.
 */
import { EngineError } from '../../kernel/engine-error.ts'
import { accountIdOf, budgetId, budgetsOf, equalAmounts } from '../../kernel/index.ts'
import type {
  AccountRef,
  Amounts,
  DeliverSignalInput,
  ExecutionId,
  OperationName,
  RaiseBudgetInput,
  SuspendInput,
} from '../../kernel/index.ts'
import {
  APPROVE,
  approvedAmounts,
  asksText,
  checkSpending,
  isExecutionId,
  keyForHolder,
  partitionOf,
  principalOf,
  spendingPrefixOf,
} from '../../client/index.ts'
import type { Spending } from '../../client/index.ts'
import type { Fabric } from '../../fabric/index.ts'
import { invalidInput, show } from '../../options/invalid-input.ts'
import { STORE_PARTITION } from '../../stores/partitions.ts'
import { actorOf, isAtLeast } from '../auth/principal.ts'
import type { Principal } from '../auth/principal.ts'
import { asksFor, refuseOwnVote } from './budget-votes.ts'

type Input = Readonly<Record<string, unknown>>

interface Spender {
  readonly namespace: string
  /** The ids of the accounts in which its spending counts. */
  readonly keys: ReadonlySet<string>
}

/** What programs send that name no sender. */
const UNNAMED = 'client'
const SPENDS: readonly OperationName[] = ['spendBudget', 'reserveBudget', 'settleReservation', 'awaitRoom']
const PERMITS: readonly OperationName[] = ['takePermits', 'returnPermits', 'renewPermits']
/** The key of a spend begins with the id of the execution that spends. */
const SPENDER = /^(\d+-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})-/
const KNOWN_MAX = 10_000

export class CallerClaims {
  readonly #fabric: Fabric
  /** Executions, with their namespaces and what they spend. An id is never one of another namespace later. */
  readonly #known = new Map<string, Spender>()

  constructor(fabric: Fabric) {
    this.#fabric = fabric
  }

  /** Returns the input for the kernel. Throws what the caller may not say. Absent if there is nothing to check. */
  check(operation: OperationName, input: Input, principal: Principal): Promise<Input> | undefined {
    if (operation === 'deliverSignal') return this.#checkSender(input, principal)
    if (operation === 'suspendExecution') checkQuestion(input as Input & SuspendInput)
    const { namespace } = principal
    if (operation === 'raiseBudget') return this.#checkRaise(input as Input & RaiseBudgetInput, principal)
    if (namespace === undefined) return undefined
    if (PERMITS.includes(operation)) return this.#checkWorker(String(input['workerInstanceId']), namespace, input)
    const spenders = spendersIn(operation, input)
    return spenders === undefined ? undefined : this.#checkSpenders(spenders, namespace, input)
  }

  /** A vote by a link counts as that of a person. So a caller that is no operator has to show the link. */
  async #checkSender(input: Input, principal: Principal): Promise<Input> {
    const { link, ...rest } = input as Input & Partial<Pick<DeliverSignalInput, 'link'>>
    if (isAtLeast(principal.role, 'operator')) return rest
    const { source } = rest as Input & Pick<DeliverSignalInput, 'source'>
    if (source.type === 'caller') {
      const { executionId, target } = rest as Input & DeliverSignalInput
      await refuseOwnVote(this.#fabric.batcher, principal, executionId, target)
      const identity = actorOf(principal, source.identity === UNNAMED ? undefined : source.identity)
      return { ...rest, source: { type: 'caller', identity } }
    }
    if (link === undefined) {
      const message = `The signal of a link needs the link itself, because '${principal.name}' has the role ${principal.role}.`
      throw new EngineError('forbidden', { message })
    }
    const { tokens } = this.#fabric.openSession()
    const claims = (await tokens.confirm()).verify(link)
    const { executionId, target, key, name, token } = rest as Input & DeliverSignalInput
    const sub = claims.sub === undefined ? '' : principalOf(claims.sub)
    const isSame =
      executionId === claims.executionId &&
      target === claims.target &&
      token?.waitpointId === claims.waitpointId &&
      token.generation === claims.generation &&
      token.openedAt === claims.openedAt &&
      token.nonce === claims.nonce &&
      source.identity === sub &&
      key.startsWith(keyForHolder(sub, '')) &&
      claims.names?.includes(name) !== false
    if (!isSame) throw new EngineError('invalid_token')
    return rest
  }

  /**
   * A worker raises a budget by what a person has approved: its execution spends the budget, and the wait that its request names has asked
   * for it and ended with that approval. The request has one possible form, so an approval raises an account once. An operator of all
   * namespaces may raise any.
   */
  async #checkRaise(input: Input & RaiseBudgetInput, { role, namespace }: Principal): Promise<Input> {
    if (isAtLeast(role, 'operator') && namespace === undefined) return input
    const { executionId, step, at } = approvalIn(input.requestId)
    if (namespace !== undefined) await this.#checkSpenders([executionId], namespace, input)
    const asked = { executionId }
    const { result } = await this.#fabric.batcher.run(partitionOf(executionId), 'describeExecution', asked)
    if (result.kind === 'refused') throw new EngineError('execution_not_found', { executionId })
    const { execution } = result
    const { createdAt, run = 0, journal } = execution
    const prefix = spendingPrefixOf({ executionId, createdAt, run }, journal?.era)
    const isOwn = input.requestId === `${prefix}:${step}@${at}` && asksFor(step, input.name)
    const limit = budgetId(input.root, input.name)
    const spends = isOwn && budgetsOf(execution).some((own) => own.limit === limit && own.key === input.key)
    const approved = spends ? await this.#approvalOf(executionId, step, at) : undefined
    if (approved === undefined || !isSame(approved.amounts, input.amounts)) throw notApproved(input.name)
    const { amounts, by } = approved
    return { ...input, amounts, by, reason: 'approved', approvedAt: at }
  }

  /**
   * Returns what an approval permits that has ended a wait at an instant: what its vote names, or else what the question has asked for when
   * it was made. A vote that arrived before the question, or at another place, was not an answer to it.
   */
  async #approvalOf(id: ExecutionId, step: string, at: number): Promise<{ amounts: Amounts; by: string } | undefined> {
    for await (const { name, kind, changedAt, wait } of this.#fabric.steps(id)) {
      if (name !== step || kind !== 'wait' || changedAt !== at) continue
      const last = wait?.signals.at(-1)
      if (last === undefined) return undefined
      for await (const signal of this.#fabric.signals(id, { values: true, from: last })) {
        const isAnswer = signal.sequence === last && signal.waitpoint === step
        if (!isAnswer || signal.name !== APPROVE) return undefined
        const amounts = permitted(signal.value, wait?.asks)
        return amounts === undefined ? undefined : { amounts, by: signal.by.identity }
      }
    }
    return undefined
  }

  /** Permits of budgets are shared by namespaces, so a caller could return or extend those of the workers of another one. */
  async #checkWorker(workerInstanceId: string, within: string, input: Input): Promise<Input> {
    const asked = { limit: 1, workerInstanceId, within }
    const { result } = await this.#fabric.batcher.run(STORE_PARTITION, 'listWorkers', asked)
    // A caller of one namespace is refused what belongs to another one.
    if ((result.kind as string) !== 'refused') return input
    throw new EngineError('worker_not_found', { workerInstanceId })
  }

  /** Budgets are shared by namespaces, and what was spent under a key is never counted again. */
  async #checkSpenders(spenders: readonly ExecutionId[], namespace: string, input: Input): Promise<Input> {
    const keys = accountsIn(input)
    await Promise.all(
      spenders.map(async (executionId) => {
        const known = this.#known.get(executionId)
        const isKnown = known !== undefined && keys.every((key) => known.keys.has(key))
        const spender = isKnown ? known : await this.#readSpender(executionId, namespace)
        if (spender?.namespace !== namespace) throw new EngineError('execution_not_found', { executionId })
        if (!keys.every((key) => spender.keys.has(key))) {
          throw new EngineError('forbidden', {
            message: `The execution '${executionId}' does not spend these budgets.`,
          })
        }
      }),
    )
    return input
  }

  async #readSpender(id: ExecutionId, within: string): Promise<Spender | undefined> {
    const { executionPartitions } = this.#fabric.store.settings
    if (!isExecutionId(id) || Number(id.slice(0, id.indexOf('-'))) >= executionPartitions) return undefined
    const asked = { executionId: id, within }
    const { result } = await this.#fabric.batcher.run(partitionOf(id), 'describeExecution', asked)
    if (result.kind === 'refused') return undefined
    const { execution } = result
    if (this.#known.size >= KNOWN_MAX) this.#known.clear()
    const keys = new Set(budgetsOf(execution).map(({ limit, key }) => accountIdOf(limit, key)))
    const spender = { namespace: execution.namespace, keys }
    this.#known.set(id, spender)
    return spender
  }
}

/** The execution, the wait and the time of the answer that a request of a raise names. */
const APPROVAL = /^(\d+-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})-[^:]*:(budget .+)@(\d{1,16})$/

/** Whether a raise refers to an approval, and so may be made by a worker. */
export function refersToApproval(requestId: unknown): boolean {
  return typeof requestId === 'string' && APPROVAL.test(requestId)
}

function approvalIn(requestId: string): {
  readonly executionId: ExecutionId
  readonly step: string
  readonly at: number
} {
  const [, id = '', step = '', at] = APPROVAL.exec(requestId) ?? []
  if (!isExecutionId(id)) throw invalidInput('requestId', 'requestId must name the approval of the raise.')
  return { executionId: id, step, at: Number(at) }
}

/** A person reads the reason of a question, so it has to state what is stored. */
function checkQuestion({ reason, asks }: SuspendInput): void {
  if (asks === undefined || reason.endsWith(asksText(asks))) return
  throw invalidInput('reason', `The reason of a question must end with: ${asksText(asks)}`)
}

function permitted(value: unknown, asks: Spending | undefined): Amounts | undefined {
  try {
    return approvedAmounts(value, asks === undefined ? undefined : checkSpending(asks, 'asks', 1))
  } catch (error) {
    if (error instanceof EngineError) return undefined
    throw error
  }
}

function isSame(approved: Amounts, given: Amounts): boolean {
  return approved.length === given.length && equalAmounts(approved, given)
}

function notApproved(name: string): EngineError {
  return new EngineError('forbidden', { message: `No approval of the execution raises the budget '${name}' by this.` })
}

/** Returns the ids of the accounts that a call names. */
function accountsIn({ root, accounts }: Input): string[] {
  if (!Array.isArray(accounts)) return []
  return (accounts as readonly AccountRef[]).map(({ name, key }) => accountIdOf(budgetId(String(root), name), key))
}

/** Returns the executions that a call spends for; undefined if it is about something else. */
function spendersIn(operation: OperationName, input: Input): ExecutionId[] | undefined {
  if (operation === 'renewReservations') {
    const { reservations } = input as { readonly reservations: readonly { readonly key: string }[] }
    return [...new Set(reservations.map(({ key }) => spenderIn(key)))]
  }
  if (operation === 'releaseReservation') return [spenderIn(String(input['key']))]
  if (!SPENDS.includes(operation)) return undefined
  const { key, spender } = input as { readonly key: string; readonly spender: { readonly executionId: string } }
  const executionId = spenderIn(key)
  if (executionId !== spender.executionId) throw foreignKey(key)
  return [executionId]
}

function spenderIn(key: string): ExecutionId {
  const [, id] = SPENDER.exec(key) ?? []
  if (id === undefined) throw foreignKey(key)
  return id as ExecutionId
}

function foreignKey(key: string): EngineError {
  return invalidInput('key', `key is ${show(key)}, but must begin with the id of the execution that spends.`)
}
