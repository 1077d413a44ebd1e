import { describe, expect, test } from 'vitest'
import {
  BUFFERED_SIGNAL_MAX,
  OPEN_WAITPOINTS_INDEX,
  bufferedSignalsIndex,
  scopeIn,
  signalIdAt,
  signalsIndex,
  stepIdIn,
  stepKey,
  stepsIndex,
  waitpointIdIn,
  waitpointsIndex,
} from '../../src/kernel/index.ts'
import type { IndexProblem, Tx } from '../../src/kernel/index.ts'
import { signalTo, stepOf, waitAt } from '../../src/stores/store.fixture.ts'
import { Partition, idOf } from './partition.ts'
import { expectAgreement, walk } from './reconcile-walk.ts'

/** More mailboxes than one step of the walk reads. */
const BOX_COUNT = 130

/** An execution that waits, with steps before and an early signal that it does not wait for; and one that was replaced. */
function partitionWithJournals(): Partition {
  const partition = new Partition()
  partition.submit({ executionId: waits })
  const held = partition.hold()
  partition.run('recordStep', stepOf(held, 'fetch'))
  partition.run('recordStep', stepOf(held, 'store'))
  partition.run('createWaitpoint', { ...held, target: 'link', expiresInMs: 500 })
  partition.run('deliverSignal', signalTo(waits, '@news'))
  partition.run('suspendExecution', waitAt(held, 'answer'))
  partition.submit({ executionId: replaced })
  const former = partition.hold()
  partition.run('recordStep', stepOf(former, 'fetch'))
  partition.run('completeExecution', former)
  partition.submit({ executionId: replaced, ifExists: 'replace' })
  partition.run('recordStep', stepOf(partition.hold(), 'fetch'))
  return partition
}

const waits = idOf(1)
const replaced = idOf(2)

describe('reconciling a partition with journals', () => {
  test('finds nothing where operations alone wrote', () => {
    expect(walk(partitionWithJournals())).toEqual([])
  })

  const [answer, link, news] = [
    waitpointIdIn(waits, 'answer'),
    waitpointIdIn(waits, 'link'),
    waitpointIdIn(waits, '@news'),
  ]
  const fetched = stepIdIn(waits, stepKey('call', 'fetch'))
  const awaited = stepIdIn(waits, stepKey('wait', 'wait for answer'))
  const signal = signalIdAt(news, 1, 'once')
  const earlier = stepIdIn(replaced, stepKey('call', 'fetch'))
  const later = scopeIn(replaced, 1)

  test.each<{ damage: string; inflict: (tx: Tx) => void; problem: IndexProblem }>([
    {
      damage: 'an open waitpoint missing among all that are open',
      inflict: (tx) => tx.repair(OPEN_WAITPOINTS_INDEX, answer, undefined),
      problem: { problem: 'missing_entry', index: OPEN_WAITPOINTS_INDEX, id: answer },
    },
    {
      damage: 'an open waitpoint that was opened at another time',
      inflict: (tx) => tx.repair(OPEN_WAITPOINTS_INDEX, link, 1),
      problem: { problem: 'wrong_score', index: OPEN_WAITPOINTS_INDEX, id: link },
    },
    {
      damage: 'a mailbox among the open waitpoints',
      inflict: (tx) => tx.repair(OPEN_WAITPOINTS_INDEX, news, 1),
      problem: { problem: 'extra_entry', index: OPEN_WAITPOINTS_INDEX, id: news },
    },
    {
      damage: 'an open waitpoint whose execution does not exist',
      inflict: (tx) => tx.repair(OPEN_WAITPOINTS_INDEX, waitpointIdIn('0-gone', 'answer'), 1),
      problem: { problem: 'extra_entry', index: OPEN_WAITPOINTS_INDEX, id: waitpointIdIn('0-gone', 'answer') },
    },
    {
      damage: 'an open waitpoint that its execution has lost',
      inflict: (tx) => tx.repair(waitpointsIndex(waits), answer, undefined),
      problem: { problem: 'missing_entry', index: waitpointsIndex(waits), id: answer },
    },
    {
      damage: 'a waitpoint that does not exist',
      inflict: (tx) => tx.repair(waitpointsIndex(waits), 'gone', 0),
      problem: { problem: 'extra_entry', index: waitpointsIndex(waits), id: 'gone' },
    },
    {
      damage: 'the step that an execution waits in, if it has lost it',
      inflict: (tx) => tx.repair(stepsIndex(waits), awaited, undefined),
      problem: { problem: 'missing_entry', index: stepsIndex(waits), id: awaited },
    },
    {
      damage: 'a step at the wrong position',
      inflict: (tx) => tx.repair(stepsIndex(waits), fetched, 9),
      problem: { problem: 'wrong_score', index: stepsIndex(waits), id: fetched },
    },
    {
      damage: 'a step that does not exist',
      inflict: (tx) => tx.repair(stepsIndex(waits), 'gone', 9),
      problem: { problem: 'extra_entry', index: stepsIndex(waits), id: 'gone' },
    },
    {
      damage: 'a step of an earlier life at the wrong position',
      inflict: (tx) => tx.repair(stepsIndex(replaced), earlier, 9),
      problem: { problem: 'wrong_score', index: stepsIndex(replaced), id: earlier },
    },
    {
      damage: 'a step of an earlier life in the present one',
      inflict: (tx) => tx.repair(stepsIndex(later), earlier, 0),
      problem: { problem: 'extra_entry', index: stepsIndex(later), id: earlier },
    },
    {
      damage: 'a signal that its execution has lost',
      inflict: (tx) => tx.repair(signalsIndex(waits), signal, undefined),
      problem: { problem: 'missing_entry', index: signalsIndex(waits), id: signal },
    },
    {
      damage: 'a signal that its waitpoint has lost',
      inflict: (tx) => tx.repair(bufferedSignalsIndex(news), signal, undefined),
      problem: { problem: 'missing_entry', index: bufferedSignalsIndex(news), id: signal },
    },
    {
      damage: 'a signal with another number',
      inflict: (tx) => tx.repair(bufferedSignalsIndex(news), signal, 7),
      problem: { problem: 'wrong_score', index: bufferedSignalsIndex(news), id: signal },
    },
    {
      damage: 'a signal at another waitpoint',
      inflict: (tx) => tx.repair(bufferedSignalsIndex(answer), signal, 1),
      problem: { problem: 'extra_entry', index: bufferedSignalsIndex(answer), id: signal },
    },
  ])('repairs and reports $damage', ({ inflict, problem }) => {
    const partition = partitionWithJournals()
    partition.write(inflict)

    expect(walk(partition)).toEqual([problem])
    expectAgreement(partition)
    expect(walk(partition)).toEqual([])
  })

  test('repairs any amount of damage in one walk, a bounded part of it in each call', () => {
    const partition = partitionWithJournals()
    const strays = Array.from({ length: 450 }, (_, i) => `gone-${i}`)
    const indexes = [
      stepsIndex(waits),
      signalsIndex(waits),
      waitpointsIndex(waits),
      bufferedSignalsIndex(news),
      bufferedSignalsIndex(answer),
    ]
    partition.write((tx) => {
      for (const index of indexes) for (const stray of strays) tx.repair(index, stray, 0)
    })

    expect(walk(partition)).toHaveLength(indexes.length * strays.length)
    expectAgreement(partition)
  })

  test('reaches every signal of every waitpoint, however many there are', () => {
    const partition = new Partition()
    partition.submit({ executionId: waits })
    const newsCount = BUFFERED_SIGNAL_MAX - BOX_COUNT
    for (let i = 0; i < BOX_COUNT; i++) partition.run('deliverSignal', signalTo(waits, `@box ${i}`))
    for (let i = 0; i < newsCount; i++) partition.run('deliverSignal', signalTo(waits, '@news', { key: `k${i}` }))
    const lost = [
      signalIdAt(waitpointIdIn(waits, `@box ${BOX_COUNT - 1}`), 1, 'once'),
      signalIdAt(news, 1, `k${newsCount - 1}`),
    ]
    partition.write((tx) => {
      for (const id of lost) tx.repair(signalsIndex(waits), id, undefined)
    })

    expect(walk(partition)).toEqual(lost.map((id) => ({ problem: 'missing_entry', index: signalsIndex(waits), id })))
    expectAgreement(partition)
  })

  test('leaves the executions of other tenants alone', () => {
    const partition = partitionWithJournals()
    partition.write((tx) => {
      tx.repair(stepsIndex(waits), fetched, 9)
      tx.repair(OPEN_WAITPOINTS_INDEX, answer, undefined)
    })

    expect(walk(partition, { namespace: 'beta' })).toEqual([])
    expect(walk(partition, { namespace: 'default' })).toHaveLength(2)
  })
})
