/** Calls are idempotent: a call that repeats the last one of its kind, by its request id, changes nothing more. */
import type { OperationInput } from '../../src/kernel/index.ts'
import type { Effect } from './network.ts'

export class RepetitionCheck {
  /** The request that last made or replaced an execution, and the one that last replayed it. */
  readonly #births = new Map<string, string>()
  readonly #replays = new Map<string, string>()

  problemsOf({ calls, answers }: Effect): string[] {
    const problems: string[] = []
    calls.forEach((call, i) => {
      const answer = answers[i]
      if (answer?.kind !== 'answered') return
      const { kind } = answer.result
      if (call.operation === 'createExecution') {
        const { executionId, requestId } = call.input as OperationInput<'createExecution'>
        if (requestId === undefined || kind === 'joined' || kind === 'refused') return
        const isRepeated = this.#births.get(executionId) === requestId
        if (isRepeated && kind === 'replaced') problems.push(`one submit has replaced ${executionId} twice`)
        this.#births.set(executionId, requestId)
      }
      if (call.operation === 'replayExecution' && kind === 'replayed') {
        const { executionId, requestId } = call.input as OperationInput<'replayExecution'>
        if (this.#replays.get(executionId) === requestId) problems.push(`one request has replayed ${executionId} twice`)
        this.#replays.set(executionId, requestId)
      }
    })
    return problems
  }
}
