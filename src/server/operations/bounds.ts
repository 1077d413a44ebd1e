/** Keeps an operation inside of the partition of its call and the namespace of its caller, whatever its input says. */
import { EngineError } from '../../kernel/engine-error.ts'
import {
  DEFAULT_NAMESPACE,
  isBudgetId,
  laneOfLimit,
  parseClass,
  parseStoredKey,
  SEPARATOR,
} from '../../kernel/index.ts'
import type { CreateInput, ExecutionId, FlowId, OperationName, WebhookChange } from '../../kernel/index.ts'
import { hasFlowIdForm, isExecutionId, partitionOf } from '../../client/index.ts'
import { invalidInput, show } from '../../options/invalid-input.ts'
import { familyOf } from '../../stores/partitions.ts'
import type { Partition } from '../../stores/store.ts'
import type { OperationAccess } from './access.ts'
import { checkNewExecution } from './new-ids.ts'
import type { InputContext } from './field-rules.ts'

/** Fields with names that begin with a namespace. */
const OWNED_NAMES = ['consumerId', 'scheduleId', 'scheduleIds']

type Input = Readonly<Record<string, unknown>>

/** A call of a known operation in an existing partition. */
export interface BoundCall {
  readonly operation: OperationName
  readonly partition: Partition
  readonly input: Input
  readonly bytes: readonly Uint8Array[]
}

/** What the fields of one input are compared with. */
export class CallContext implements InputContext {
  readonly composed: string | undefined
  readonly #call: BoundCall
  readonly #namespace: string | undefined
  readonly #partitionCount: number

  constructor(call: BoundCall, namespace: string | undefined, partitionCount: number) {
    this.#call = call
    this.#namespace = namespace
    this.#partitionCount = partitionCount
    this.composed = call.operation === 'wakeWaiting' ? 'name' : undefined
  }

  checkId(id: string, name: string, kind: 'executionId' | 'flowId'): void {
    const { partition } = this.#call
    const hasForm = kind === 'executionId' ? isExecutionId(id) : hasFlowIdForm(id)
    if (!hasForm) throw invalidInput(name, `${name} is ${show(id)}, which is no id.`)
    if (familyOf(partition) !== 'fp' || partitionOf(id as ExecutionId | FlowId) === partition) return
    throw invalidInput(name, `${name} is ${show(id)}, which is not in the partition ${partition}.`)
  }

  checkPartition(number: number, name: string): void {
    if (number < this.#partitionCount) return
    throw invalidInput(
      name,
      `${name} is ${number}, but the partitions of executions have numbers below ${this.#partitionCount}.`,
    )
  }

  checkName(text: string, name: string): void {
    const namespace = this.#namespace
    if (namespace === undefined) return
    if (name === 'namespace' && text !== namespace) throw outside(namespace)
    if (name === 'key' && isKeyOfOther(text, namespace)) throw outside(namespace)
    // A schedule that starts a flow has no class.
    if (name === 'class' && text === '' && this.#call.operation === 'configureSchedule') return
    if (name === 'class' && parseClass(text).namespace !== namespace) throw outside(namespace)
    if (OWNED_NAMES.includes(name) && !text.startsWith(namespace + SEPARATOR)) throw outside(namespace)
  }

  checkLimitKey(limit: string, key: string): void {
    const namespace = this.#namespace
    if (namespace === undefined || isBudgetId(limit)) return
    const lane = laneOfLimit(limit)
    // Programs do not hold back the limit of a lane.
    const isHeld = lane !== undefined && this.#call.operation === 'holdLimit'
    if (isHeld || (lane ?? parseStoredKey(key)).namespace !== namespace) throw outside(namespace)
  }

  checkBlob(number: number, size: number): void {
    if (this.#call.bytes[number]?.byteLength === size) return
    throw invalidInput('blob', `The input refers to the blob ${number} with ${size} bytes, which did not come with it.`)
  }

  checkNew(create: CreateInput): void {
    checkNewExecution(create, this.#call.operation, this.#call.input, this.#partitionCount)
  }
}

/** Returns the input with the namespace of its caller. */
export function boundInput(
  operation: OperationName,
  input: Input,
  access: OperationAccess,
  namespace: string | undefined,
): Input {
  if (namespace === undefined) return input
  const bound = { ...input, within: namespace }
  if (operation === 'claimForWorker' || access.isFiltered === true) return { ...bound, namespace }
  if (operation === 'changeWebhook')
    return { ...bound, change: boundChange(input['change'] as WebhookChange, namespace) }
  // The server wakes and confirms what it hides from callers of one namespace.
  if (operation === 'openGates') return { ...bound, executions: undefined }
  if (operation === 'confirmWakes') return { ...bound, keys: [] }
  const { next } = input
  if (operation === 'completeExecution' && typeof next === 'object') return { ...bound, next: { ...next, namespace } }
  return bound
}

/** A webhook gets only events of its namespace. */
function boundChange(change: WebhookChange, namespace: string): WebhookChange {
  if (change.kind !== 'define') return change
  return { ...change, filter: { ...change.filter, namespace, storeWide: undefined } }
}

/** Keys of limits begin with their namespace, unless it is the default one. */
function isKeyOfOther(key: string, namespace: string): boolean {
  const { namespace: own } = parseStoredKey(key)
  return own !== DEFAULT_NAMESPACE && own !== namespace
}

function outside(namespace: string): EngineError {
  return new EngineError('forbidden', { message: `The caller reaches only the namespace '${namespace}'.` })
}
