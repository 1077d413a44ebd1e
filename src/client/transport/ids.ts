/**
 * The ids of executions, `<partition>-<uuid>`, and of flows, `f<partition>-<uuid>`: minted for each submit or derived from
 * the caller's own key. Members of a flow are in its partition, and their ids follow from the flow's and the node's name; children
 * are in the partition of their parent.
 */
import { memberIdIn } from '../../calendar/firing.ts'
import { SEPARATOR, isFlowId, shapingKeyId } from '../../kernel/index.ts'
import type { ExecutionId, FlowId, ShapingKind } from '../../kernel/index.ts'
import { derivedUuid } from '../../runtime/index.ts'
import type { Runtime } from '../../runtime/index.ts'
import { executionPartition } from '../../stores/store.ts'
import type { Partition } from '../../stores/store.ts'
import { storedNodeName } from '../checks/hashed-names.ts'
import { checkKey, invalidInput, show } from '../checks/names.ts'

const EXECUTION_ID = /^(0|[1-9]\d{0,4})-([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})$/
const FLOW_ID = /^f(0|[1-9]\d{0,4})-([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})$/
/** Separates the ids of flows from those of executions: no key contains the separator. */
const FLOW_WORD = 'flow'
const CHILD_WORD = 'child'

/** Parses an execution id. Refuses a partition that this store does not have. */
export function parseExecutionId(text: string, partitionCount: number): ExecutionId {
  checkId(text, EXECUTION_ID.exec(text), 'an execution id of the form <partition>-<uuid>', partitionCount)
  return text as ExecutionId
}

/** Parses a flow id. Refuses a partition that this store does not have. */
export function parseFlowId(text: string, partitionCount: number): FlowId {
  checkId(text, FLOW_ID.exec(text), "a flow's id of the form f<partition>-<uuid>", partitionCount)
  return text as FlowId
}

function checkId(text: string, match: RegExpExecArray | null, form: string, partitionCount: number): void {
  if (match === null) throw invalidInput('id', `${show(text)} is not ${form}.`)
  if (Number(match[1]) >= partitionCount) {
    throw invalidInput('id', `${show(text)} names partition ${match[1]}, but this store has ${partitionCount}.`)
  }
}

export function isExecutionId(text: string): text is ExecutionId {
  return EXECUTION_ID.test(text)
}

/** Whether a text is the id of a flow, rather than a key. */
export function hasFlowIdForm(text: string): text is FlowId {
  return FLOW_ID.test(text)
}

export function mintExecutionId(partitionNumber: number, runtime: Runtime): ExecutionId {
  return `${partitionNumber}-${runtime.uuid()}` as ExecutionId
}

export function mintFlowId(partitionNumber: number, runtime: Runtime): FlowId {
  return `f${partitionNumber}-${runtime.uuid()}` as FlowId
}

/** Derives the id from namespace and key. Deterministic, so that a repeated submit finds the same execution. */
export function executionIdFromKey(namespace: string, key: string, partitionCount: number): ExecutionId {
  refuseOwnForm(key, "an execution's")
  const { number, uuid } = derive(namespace + SEPARATOR + checkKey(key), partitionCount)
  return `${number}-${uuid}` as ExecutionId
}

export interface ShapedSubmit {
  readonly namespace: string
  readonly task: string
  readonly kind: ShapingKind
  readonly key: string
  /** The same for every repetition of the submit. */
  readonly requestId: string
}

/** Derives the id of a shaped submit. Its partition follows from the key, and the rest from the submit. */
export function shapedExecutionId(submit: ShapedSubmit, partitionCount: number): ExecutionId {
  const { namespace, task, kind, key, requestId } = submit
  const keyId = shapingKeyId(namespace, kind, task, key)
  const { number } = derive(keyId, partitionCount)
  return `${number}-${derive(keyId + SEPARATOR + requestId, 1).uuid}` as ExecutionId
}

export function flowIdFromKey(namespace: string, key: string, partitionCount: number): FlowId {
  refuseOwnForm(key, "a flow's")
  const { number, uuid } = derive(namespace + SEPARATOR + FLOW_WORD + SEPARATOR + checkKey(key), partitionCount)
  return `f${number}-${uuid}` as FlowId
}

/** Derives a member's id from its flow and node. Deterministic, so that a repeated submit finds the same members. */
export function memberIdOf(flowId: FlowId, node: string): ExecutionId {
  return memberIdIn(partitionNumberOf(flowId), flowId, storedNodeName(node))
}

/**
 * Derives the id of a child from the run of its parent and the child's name, so that a repeated start creates one child. The
 * child is in the partition of its parent. `start` distinguishes the starts of one name: it changes with a retry and a replay.
 */
export function childIdOf(parentId: ExecutionId, start: string, name: string): ExecutionId {
  const text = [parentId, CHILD_WORD, start, name].join(SEPARATOR)
  return `${partitionNumberOf(parentId)}-${derive(text, 1).uuid}` as ExecutionId
}

function derive(text: string, partitionCount: number): { readonly number: number; readonly uuid: string } {
  const { number, uuid } = derivedUuid(text)
  return { number: number % partitionCount, uuid }
}

function refuseOwnForm(key: string, whose: string): void {
  if (!EXECUTION_ID.test(key) && !FLOW_ID.test(key)) return
  throw invalidInput(
    'id',
    `${show(key)} has the form of ${whose} own id and would be taken for one: put a word before it.`,
  )
}

/** Returns the execution that an id or a key names. */
export function resolveExecutionId(idOrKey: string, namespace: string, partitionCount: number): ExecutionId {
  if (FLOW_ID.test(idOrKey)) {
    throw invalidInput('id', `${show(idOrKey)} is the id of a flow: fabric.flow(id) is the handle for it.`)
  }
  return EXECUTION_ID.test(idOrKey)
    ? parseExecutionId(idOrKey, partitionCount)
    : executionIdFromKey(namespace, idOrKey, partitionCount)
}

export function resolveFlowId(idOrKey: string, namespace: string, partitionCount: number): FlowId {
  if (EXECUTION_ID.test(idOrKey)) {
    throw invalidInput('id', `${show(idOrKey)} is the id of an execution: fabric.execution(id) is the handle for it.`)
  }
  return FLOW_ID.test(idOrKey)
    ? parseFlowId(idOrKey, partitionCount)
    : flowIdFromKey(namespace, idOrKey, partitionCount)
}

/** Returns the partition that an id names. */
export function partitionOf(id: ExecutionId | FlowId): Partition {
  return executionPartition(partitionNumberOf(id))
}

function partitionNumberOf(id: ExecutionId | FlowId): number {
  return Number(id.slice(isFlowId(id) ? 1 : 0, id.indexOf('-')))
}
