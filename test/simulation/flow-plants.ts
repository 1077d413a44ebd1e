/** Mistakes in what the kernel does with flows: edges resolved wrongly, joins that fire too often, cancels that reach too few. */
import { OPEN_EDGES, countChange, bucketOf, outboundIndex } from '../../src/kernel/index.ts'
import type { Edge, Flow, RecordType, RecordTypes, Tx } from '../../src/kernel/index.ts'
import { change, putting } from './kernel-plants.ts'
import type { Plant } from './plant.ts'

const SEPARATOR = '\u001f'

/** A transaction in which flows are read otherwise than they stand, and are written as they stood. */
export function readingFlows(tx: Tx, alter: (flow: Flow) => void): Tx {
  return {
    ...tx,
    get: (type, id) => {
      const record = tx.get(type, id)
      if (record?.type === 'flow') alter(record)
      return record
    },
    put: (record) => {
      const stored = record.type === 'flow' ? tx.get('flow', record.id) : undefined
      tx.put(record.type === 'flow' && stored !== undefined ? { ...record, state: stored.state } : record)
    },
  }
}

/** A transaction that changes flows on their way into the store. */
export function puttingFlows(tx: Tx, alter: (flow: Flow) => Flow | undefined): Tx {
  return {
    ...tx,
    put: (record) => {
      const written: RecordTypes[RecordType] | undefined = record.type === 'flow' ? alter(record) : record
      if (written !== undefined) tx.put(written)
    },
  }
}

function asIfNotCancelled(tx: Tx): Tx {
  return readingFlows(tx, (flow) => {
    if (flow.state.phase === 'cancelled') flow.state = { phase: 'sealed' }
  })
}

/** Undoes several changes. */
function all(...undo: readonly (() => void)[]): () => void {
  return () => {
    for (const each of undo) each()
  }
}

export const flowPlants: readonly Plant[] = [
  {
    name: 'edge_counted_twice',
    mistake: 'a completion counts its edge twice where more than one is waited for',
    plant: () =>
      change('completeExecution', (right, tx, input) =>
        right(
          putting(tx, ({ member }) => {
            const group = member?.group
            if (group?.verdict === 'pending' && group.completed > 0) group.completed += 1
          }),
          input,
        ),
      ),
  },
  {
    name: 'join_fires_again',
    mistake: 'a completion that comes after a join has fired lets it go once more',
    plant: () =>
      change('completeExecution', (right, tx, input) => {
        const late = tx.range({ index: outboundIndex(input.executionId), to: OPEN_EDGES, limit: 10 })
        const result = right(tx, input)
        for (const { id } of result.kind === 'completed' ? late : []) {
          const execution = tx.get('execution', id)
          if (execution?.state.phase !== 'ended' || execution.member?.group?.verdict !== 'satisfied') continue
          const before = bucketOf(execution)
          execution.state = { phase: 'eligible' }
          execution.result = undefined
          tx.put(execution)
          tx.emit('execution_unblocked', execution, {})
          countChange(tx, execution, before)
        }
        return result
      }),
  },
  {
    name: 'join_fires_too_early',
    mistake: 'a member that waits for all is released by the first',
    plant: () =>
      change('completeExecution', (right, tx, input) =>
        right(
          {
            ...tx,
            get: (type, id) => {
              const record = tx.get(type, id)
              const group = record?.type === 'execution' ? record.member?.group : undefined
              if (group?.verdict === 'pending' && group.policy === 'all_of') group.policy = 'any_of'
              return record
            },
            put: (record) => {
              const group = record.type === 'execution' ? record.member?.group : undefined
              if (group?.policy === 'any_of' && group.need === 0) group.policy = 'all_of'
              tx.put(record)
            },
          },
          input,
        ),
      ),
  },
  {
    name: 'ended_join_fires_too_early',
    mistake: 'a member that waits for the end of all is released by the first',
    plant: () =>
      change('completeExecution', (right, tx, input) => {
        const altered = new Set<string>()
        const altering: Tx = {
          ...tx,
          get: (type, id) => {
            const record = tx.get(type, id)
            const group = record?.type === 'execution' ? record.member?.group : undefined
            if (group?.verdict === 'pending' && group.policy === 'ended') {
              group.policy = 'any_of'
              altered.add(id)
            }
            return record
          },
          put: (record) => {
            const group = record.type === 'execution' ? record.member?.group : undefined
            if (group !== undefined && altered.has(record.id)) group.policy = 'ended'
            tx.put(record)
          },
        }
        return right(altering, input)
      }),
  },
  {
    name: 'condition_skip_releases',
    mistake: 'a member whose condition is not met releases those that need it',
    plant: () =>
      change('skipExecution', (right, tx, input) => {
        const tolerating = (edge: Edge) => Object.assign(edge, { onFailure: 'continue' as const })
        const getMany: Tx['getMany'] = (type, ids) => {
          const records = tx.getMany(type, ids)
          for (const record of records) if (record.type === 'edge') tolerating(record)
          return records
        }
        const put: Tx['put'] = (record) => tx.put(record.type === 'edge' ? { ...record, onFailure: undefined } : record)
        return right({ ...tx, getMany, put }, input)
      }),
  },
  {
    name: 'ignored_failure_counted',
    mistake: 'a failure that an edge ignores makes the flow fail',
    plant: () =>
      change('failExecution', (right, tx, input) =>
        right(
          puttingFlows(tx, (flow) => ({ ...flow, ignoredCount: undefined })),
          input,
        ),
      ),
  },
  {
    name: 'loser_not_cancelled',
    mistake: 'those that lose a race run on',
    plant: () =>
      change('completeExecution', (right, tx, input) =>
        right({ ...tx, range: (range) => (range.index.startsWith(`in${SEPARATOR}`) ? [] : tx.range(range)) }, input),
      ),
  },
  {
    name: 'loser_of_a_vote_cancelled',
    mistake: 'those that are to run on are cancelled',
    plant: () =>
      change('completeExecution', (right, tx, input) =>
        right(
          {
            ...tx,
            get: (type, id) => {
              const record = tx.get(type, id)
              if (record?.type === 'flow') record.cancelsLosers = true
              const group = record?.type === 'execution' ? record.member?.group : undefined
              if (group?.policy === 'quorum') group.losers = 'cancel'
              return record
            },
          },
          input,
        ),
      ),
  },
  {
    name: 'owed_edges_forgotten',
    mistake: 'edges that exceed one call are never resolved',
    plant: () =>
      change('completeExecution', (right, tx, input) =>
        right(
          putting(tx, ({ member }) => {
            if (member !== undefined) member.owesEdges = false
          }),
          input,
        ),
      ),
  },
  {
    name: 'skip_not_followed',
    mistake: 'a failure skips those that waited for it, and none after them',
    plant: () =>
      change('failExecution', (right, tx, input) =>
        right(
          {
            ...tx,
            range: (range) => {
              const isBehind = range.index.startsWith(`out${SEPARATOR}`)
              return isBehind && range.index !== outboundIndex(input.executionId) ? [] : tx.range(range)
            },
          },
          input,
        ),
      ),
  },
  {
    name: 'begun_after_the_cancel',
    mistake: 'a member of a cancelled flow that lost its worker is begun again',
    plant: () =>
      all(
        change('claimForWorker', (right, tx, input) => right(asIfNotCancelled(tx), input)),
        change('runDue', (right, tx, input) => right(asIfNotCancelled(tx), input)),
        change('releaseExecution', (right, tx, input) => right(asIfNotCancelled(tx), input)),
      ),
  },
  {
    name: 'count_not_shifted',
    mistake: 'a member that is handed back is counted as active',
    plant: () =>
      change('releaseExecution', (right, tx, input) =>
        right(
          puttingFlows(tx, () => undefined),
          input,
        ),
      ),
  },
  {
    name: 'flow_ends_too_early',
    mistake: 'a flow ends when its first member has completed',
    plant: () =>
      change('completeExecution', (right, tx, input) =>
        right(
          puttingFlows(tx, (flow) => {
            if (flow.state.phase !== 'sealed' || flow.counts.active > 0) return flow
            return { ...flow, state: { phase: 'ended', outcome: 'completed', at: tx.now } }
          }),
          input,
        ),
      ),
  },
  {
    name: 'end_of_flow_not_told',
    mistake: 'a flow that ends leaves no event',
    plant: () =>
      change('completeExecution', (right, tx, input) =>
        right(
          {
            ...tx,
            emit: (type, subject, detail) => {
              if (type !== 'flow_ended') tx.emit(type, subject, detail)
            },
          },
          input,
        ),
      ),
  },
  {
    name: 'subtree_not_replayed',
    mistake: 'a replay of a subtree replays its root only',
    plant: () => change('replayExecution', (right, tx, input) => right(tx, { ...input, subtree: false })),
  },
  {
    name: 'input_of_another',
    mistake: 'a claim gives every input the result of the last',
    plant: () =>
      change('claimForWorker', (right, tx, input) => {
        const result = right(tx, input)
        return {
          ...result,
          executions: result.executions.map((claimed) => {
            const last = claimed.inputs.at(-1)
            return {
              ...claimed,
              inputs: claimed.inputs.map((one) => ({ ...one, result: last?.result, blob: last?.blob })),
            }
          }),
        }
      }),
  },
  {
    name: 'edges_outlive_their_flow',
    mistake: 'a purge takes a flow and its members, and leaves the edges',
    plant: () =>
      change('purgeExecutions', (right, tx, input) =>
        right(
          {
            ...tx,
            remove: (type, id) => {
              if (type !== 'edge') tx.remove(type, id)
            },
          },
          input,
        ),
      ),
  },
  {
    name: 'parked_and_forgotten',
    mistake: 'a member that waits for what it added waits for ever',
    plant: () =>
      change('completeExecution', (right, tx, input) =>
        right(
          putting(tx, (execution) => {
            if (execution.task === 'branch' && execution.state.phase === 'eligible') {
              execution.state = { phase: 'blocked', by: 'dependencies', gate: undefined }
            }
          }),
          input,
        ),
      ),
  },
]
