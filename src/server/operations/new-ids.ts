/**
 * Checks the ids of what a call creates. An id that is derived from a name would otherwise let a caller occupy the id that follows from
 * a name of another namespace.
 */
import type { CreateInput, FlowId, OperationName } from '../../kernel/index.ts'
import { executionIdFromKey, flowIdFromKey, memberIdOf, shapedExecutionId } from '../../client/index.ts'
import { invalidInput, show } from '../../options/invalid-input.ts'

type Input = Readonly<Record<string, unknown>>

/** The version of a UUID that is derived from a text. */
export const DERIVED = /^f?\d+-[0-9a-f]{8}-[0-9a-f]{4}-8/

/** Throws unless the id of a new flow is minted, or follows from its namespace and key. */
export function checkFlowId({ flowId, namespace, key }: Input, partitionCount: number): void {
  if (typeof flowId !== 'string' || !DERIVED.test(flowId)) return
  const isKeyed = typeof key === 'string' && typeof namespace === 'string'
  if (!isKeyed || flowIdFromKey(namespace, key, partitionCount) !== flowId) throw foreignId('flowId', flowId)
}

/** Throws unless the id of a new execution is minted, or follows from what the input says. */
export function checkNewExecution(
  create: CreateInput,
  operation: OperationName,
  input: Input,
  partitionCount: number,
): void {
  const { executionId, namespace, task, key, shaping, requestId } = create
  if (create.schedule !== undefined)
    throw invalidInput('schedule', 'Only schedules name themselves in what they create.')
  // The kernel looks for an execution with the id of the member, and creates the one that `create` names.
  if (operation === 'addExecutionToFlow' && executionId !== input['executionId'])
    throw foreignId('executionId', executionId)
  // Those of children contain the time at which their parent was created, and the parent has to be held.
  // Those in a schedule only tell the nodes of its flow apart.
  if (!DERIVED.test(executionId) || operation === 'startChildren' || operation === 'configureSchedule') return
  if (key !== undefined && executionIdFromKey(namespace, key, partitionCount) === executionId) return
  if (shaping !== undefined && requestId !== undefined) {
    const { kind } = shaping
    if (shapedExecutionId({ namespace, task, kind, key: shaping.key, requestId }, partitionCount) === executionId)
      return
  }
  if (namesOfMembers(operation, input).some((name) => memberIdOf(input['flowId'] as FlowId, name) === executionId))
    return
  throw foreignId('executionId', executionId)
}

function namesOfMembers(operation: OperationName, { name, nodes }: Input): string[] {
  if (operation === 'addExecutionToFlow') return [String(name)]
  if (operation !== 'submitFlow' || !Array.isArray(nodes)) return []
  return nodes.map((node) => String((node as Input)['name']))
}

export function foreignId(field: string, id: string): Error {
  return invalidInput(
    field,
    `${field} is ${show(id)}, which does not follow from the namespace and the key of the input.`,
  )
}
