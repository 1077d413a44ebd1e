/** Short ways to let executions remember things and wait, for the tests of this folder. */
import type { Claimed, ExecutionId, OperationInput, OperationName, OperationResult } from '../kernel/index.ts'
import { waitAt } from '../stores/store.fixture.ts'
import type { World } from './engine.fixture.ts'

export async function say<N extends OperationName>(
  world: World,
  operation: N,
  input: OperationInput<N>,
): Promise<OperationResult<N>> {
  const { result } = await world.batcher.run('fp:0', operation, input)
  return result
}

/** A leased execution. */
export async function held(world: World): Promise<Claimed> {
  const id = await world.submit()
  const claimed = (await world.claim()).find(({ executionId }) => executionId === id)
  if (claimed === undefined) throw new Error('It was not claimed.')
  return claimed
}

/** An execution that waits for a signal at the waitpoint `answer`. */
export async function waiting(
  world: World,
  wish: Partial<OperationInput<'suspendExecution'>> = {},
): Promise<ExecutionId> {
  const claimed = await held(world)
  const result = await say(world, 'suspendExecution', waitAt(claimed, 'answer', wish))
  if (result.kind !== 'suspended') throw new Error(`It does not wait: ${result.kind}.`)
  return claimed.executionId
}
