/**
 * The indexes of one journal: the steps, waitpoints and signals of each life, and the signals that are buffered at each
 * waitpoint. A buffered signal is in two of them, and is found in one if it is missing in the other.
 */
import { matchesFilter } from '../../rules/tenant-filter.ts'
import { CREATED_INDEX, bufferedSignalsIndex, signalsIndex, stepsIndex, waitpointsIndex } from '../../model/indexes.ts'
import type { OwnedIndex, Owners } from './owned-indexes.ts'
import { scopeIn } from '../../rules/journal-ids.ts'

export const journalOwners: Owners = {
  index: CREATED_INDEX,
  ownedBy: (tx, executionId, input) => {
    const execution = tx.get('execution', executionId)
    const journal = execution?.journal
    if (execution === undefined || journal === undefined || !matchesFilter(execution, input.filter)) return []
    const owned: OwnedIndex[] = []
    for (let life = journal.firstLife; life <= journal.life; life++) {
      const scope = scopeIn(execution.id, life)
      owned.push({ name: stepsIndex(scope), recordOf: (at, id) => at.get('step', id) })
      owned.push({
        name: waitpointsIndex(scope),
        recordOf: (at, id) => at.get('waitpoint', id),
        inside: bufferedSignalsOf,
      })
      owned.push({ name: signalsIndex(scope), recordOf: (at, id) => at.get('signal', id) })
    }
    return owned
  },
}

function bufferedSignalsOf(waitpointId: string): OwnedIndex {
  return { name: bufferedSignalsIndex(waitpointId), recordOf: (tx, id) => tx.get('signal', id) }
}
