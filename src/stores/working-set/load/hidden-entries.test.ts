import { expect, test } from 'vitest'
import { DUE_HIDDEN_MS, DUE_INDEX } from '../../../kernel/index.ts'
import type { OperationInput, OperationName, OperationResult } from '../../../kernel/index.ts'
import { MemoryPartition } from '../../memory/memory-partition.ts'
import { call, claim, creation } from '../../store.fixture.ts'
import { Overlay } from '../overlay/overlay.ts'

const NOW = 1_700_000_000_000
const LATER = NOW + 1_000

/** Hides something of the due index while `isHiding` is set. */
class HidingPartition extends MemoryPartition {
  isHiding = false

  hides(index: string): boolean {
    return this.isHiding && index === DUE_INDEX
  }

  do<N extends OperationName>(operation: N, input: OperationInput<N>, now = LATER): OperationResult<N> {
    const overlay = new Overlay(this, now)
    const [answer] = overlay.runAll([call(operation, input)])
    if (answer?.kind !== 'answered') throw new Error(`${operation} was not answered: ${JSON.stringify(answer)}`)
    this.apply(overlay.writes())
    return answer.result as OperationResult<N>
  }
}

function withDelayed(count: number): HidingPartition {
  const partition = new HidingPartition()
  for (let i = 0; i < count; i++) partition.do('createExecution', creation({ delayMs: 1_000 }), NOW)
  return partition
}

test('a claim from which due records are hidden returns that there may be more', () => {
  const partition = withDelayed(0)
  expect(partition.do('claimForWorker', claim()).more).toBe(false)

  partition.isHiding = true

  expect(partition.do('claimForWorker', claim()).more).toBe(true)
})

test('a due pass from which records are hidden looks again soon, also if it first continues elsewhere', () => {
  const partition = withDelayed(2)
  const pass = { limit: 1, seed: 1 }
  partition.isHiding = true
  const first = partition.do('runDue', pass)
  partition.isHiding = false
  const second = partition.do('runDue', { ...pass, from: first.next })
  const last = partition.do('runDue', { ...pass, from: second.next })

  expect([first.handled.length, second.handled.length, last.handled.length]).toEqual([1, 1, 0])
  expect([first.nextDueAt, second.nextDueAt, last.next]).toEqual([undefined, undefined, undefined])
  expect(last.nextDueAt).toBe(LATER + DUE_HIDDEN_MS)
  expect(partition.do('runDue', pass).nextDueAt).toBeUndefined()
})
