/**
 * Checks ids that follow from stored records: those of children, and of what a schedule starts. Otherwise a caller of one namespace could
 * occupy the id that follows from a name of another one, or write the payload of an execution there.
 */
import { childIdOf, firingAt, memberIdIn } from '../../client/index.ts'
import type {
  ExecutionId,
  FireScheduleInput,
  FlowId,
  OperationInput,
  OperationName,
  PlanScheduleInput,
  Schedule,
} from '../../kernel/index.ts'
import type { Batcher } from '../../stores/batcher.ts'
import type { Partition } from '../../stores/store.ts'
import { DERIVED, foreignId } from './new-ids.ts'

type Firing = FireScheduleInput['firings'][number]

/** Throws unless the ids follow from the records. What does not exist or is held by another, the operation itself refuses. */
export async function checkDerivedIds(
  batcher: Batcher,
  { operation, partition, input }: { operation: OperationName; partition: Partition; input: object },
): Promise<void> {
  if (operation === 'startChildren') {
    await checkChildren(batcher, partition, input as StartInput)
    return
  }
  const { scheduleId } = input as FireScheduleInput | PlanScheduleInput
  const { result } = await batcher.run(partition, 'describeSchedule', { scheduleId })
  if (result.kind === 'refused') return
  const firings = 'firings' in input ? (input as FireScheduleInput).firings : (input as PlanScheduleInput).boundaries
  for (const firing of firings) checkFiring(result.schedule, firing, partition)
}

type StartInput = OperationInput<'startChildren'>

async function checkChildren(batcher: Batcher, partition: Partition, input: StartInput): Promise<void> {
  const { executionId, children, fence } = input
  const { result } = await batcher.run(partition, 'describeExecution', { executionId })
  if (result.kind === 'refused') return
  const { state, createdAt, run = 0, journal } = result.execution
  if (state.phase !== 'active' || state.lease.id !== fence.leaseId) return
  const start = [createdAt, run, journal?.era ?? 0, journal?.round ?? 0].join('.')
  for (const { name, create } of children) {
    const id = create.executionId
    if (DERIVED.test(id) && id !== childIdOf(executionId, start, name)) throw foreignId('executionId', id)
  }
}

/** What is started by hand has an id that is minted. */
function checkFiring(schedule: Schedule, firing: Firing, partition: Partition): void {
  const { executionId, at, memberIds = [] } = firing
  const number = Number(partition.slice(partition.indexOf(':') + 1))
  const isOfBoundary = at !== undefined && firingAt(schedule, at, number).executionId === executionId
  if (!isOfBoundary && DERIVED.test(executionId)) throw foreignId('executionId', executionId)
  const nodes = schedule.flow?.nodes ?? []
  memberIds.forEach((id: ExecutionId, i) => {
    const node = nodes[i]
    const own = node === undefined ? undefined : memberIdIn(number, executionId as string as FlowId, node.name)
    if (id !== own) throw foreignId('memberIds', id)
  })
}
