/** Compares what submitters were answered and what handlers did with the store. */
import type { Execution } from '../../src/kernel/index.ts'
import type { PartitionDump } from '../../src/stores/store.ts'
import type { Fabric } from '../../src/fabric/index.ts'
import { executionsOf } from './history.ts'
import type { Site } from './site.ts'
import { answerTo, kinds } from './work.ts'
import type { BodyEntry, Work } from './work.ts'

/** Every sentence names a piece of work that was lost, got stuck, ended in a way it cannot, or has a wrong result. */
export async function findDisagreements(
  site: Pick<Site, 'acknowledged' | 'bodies'>,
  fabric: Fabric,
  dump: PartitionDump,
): Promise<string[]> {
  const executions = executionsOf(dump)
  const bodies = Map.groupBy(site.bodies(), (body) => body.executionId)
  const faults = faultsOfAcknowledged(site.acknowledged(), executions)
  for (const execution of executions) {
    const found = [
      ...faultsOfEnd(execution),
      ...faultsOfBodies(execution, bodies.get(execution.id) ?? []),
      ...(await faultsOfResult(execution, fabric, bodies.get(execution.id) ?? [])),
    ]
    faults.push(...found.map((fault) => `${execution.id} (${execution.task}): ${fault}`))
  }
  return faults
}

function faultsOfAcknowledged(acknowledged: ReadonlyMap<string, string>, executions: readonly Execution[]): string[] {
  const keys = new Map<string, string | undefined>(executions.map(({ id, key }) => [id, key]))
  return [...acknowledged]
    .filter(([key, id]) => keys.get(id) !== key)
    .map(([key, id]) => `${id} was acknowledged for ${key}, but the store does not have it`)
}

function faultsOfEnd({ task, state }: Execution): string[] {
  if (state.phase !== 'ended') return [`it is still ${state.phase}`]
  const kind = kinds.find((one) => one.task.name === task)
  return kind?.outcomes.includes(state.outcome) === true ? [] : [`it ended as ${state.outcome}: ${state.reason}`]
}

/** A body runs only for an attempt that the store gave out, and an attempt has an outcome of its own only if its body ran. */
function faultsOfBodies({ attempt, state }: Execution, bodies: readonly BodyEntry[]): string[] {
  const last = attempt?.number ?? 0
  const faults = bodies
    .filter((body) => body.attempt > last)
    .map((body) => `attempt ${body.attempt} was never given out`)
  const isByBody = state.phase === 'ended' && (state.outcome === 'completed' || state.outcome === 'failed')
  if (isByBody && !bodies.some((body) => body.attempt === last)) faults.push(`no body of attempt ${last} ran`)
  return faults
}

async function faultsOfResult(
  { id, state }: Execution,
  fabric: Fabric,
  bodies: readonly BodyEntry[],
): Promise<string[]> {
  if (state.phase !== 'ended' || state.outcome !== 'completed') return []
  const { input, result, attempt } = await fabric.describe(id)
  const answer = answerTo(input as Work, { attempt })
  if (result !== answer) return [`its result is ${JSON.stringify(result)} instead of ${answer}`]
  const isGiven = bodies.some((body) => body.attempt === attempt && body.answer === answer)
  return isGiven ? [] : [`it is completed, but attempt ${attempt} never gave its answer`]
}
