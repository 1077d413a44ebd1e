/** Waits, and what may arrive while an execution waits for something else than signals. */
import { describe, expect, test } from 'vitest'
import { BUFFERED_SIGNAL_MAX, LINK_BUFFERED_MAX, OPEN_WAITPOINT_MAX } from '../../src/kernel/limits.ts'
import type { ConditionNode, OperationInput, Waitpoint } from '../../src/kernel/index.ts'
import { waitpointIdIn } from '../../src/kernel/rules/journal-ids.ts'
import { HeldPartition, MAILBOX, ada, adaByLink, bobByLink } from './held-partition.ts'
import { idOf } from './partition.ts'
import { storedEvents, storedRecord } from './trials/memory.ts'
import { submitWithoutPayload } from './trials/world.ts'

const failure = { category: 'error', message: 'no luck' }

function leaf(targets: string[], more: { name?: string; parent?: number; need?: number } = {}): ConditionNode {
  return { kind: 'leaf', parent: more.parent, need: more.need ?? 1, by: 'once', name: more.name, from: [], targets }
}

function wait(
  partition: HeldPartition,
  nodes: ConditionNode[],
  more: Partial<OperationInput<'suspendExecution'>> = {},
) {
  const reason = 'signal'
  const input = {
    stepKind: 'wait',
    name: 'answer',
    nodes,
    opens: [],
    reason,
    onTimeout: 'resume',
    keyId: 'k1',
  } as const
  return partition.run('suspendExecution', { ...partition.held, ...input, ...more })
}

function send(partition: HeldPartition, target: string, key: string, name = 'vote', source = ada) {
  const { executionId } = partition.held
  const result = partition.run('deliverSignal', { executionId, target, key, name, source })
  return result.kind === 'refused' ? result.code : [result.kind, result.kind === 'delivered' ? result.effect : '']
}

function close(partition: HeldPartition, target: string): string {
  return partition.run('closeWaitpoint', { executionId: idOf(1), target, by: 'ops', reason: 'enough' }).kind
}

function waitpointOf({ world, held }: HeldPartition, target: string): Waitpoint {
  return storedRecord(world.memory, 'waitpoint', waitpointIdIn(held.executionId, target))!
}

function phaseOf(partition: HeldPartition): string {
  return partition.execution(idOf(1)).state.phase
}

function listed(partition: HeldPartition): unknown {
  const result = partition.run('listWaitpoints', { executionId: idOf(1), all: true })
  if (result.kind === 'refused') return result.code
  return result.waitpoints.map(({ waitpoint, state, names, step }) => [waitpoint.target, state, names, step])
}

/** An execution that has opened `w` and waits for a child. */
function waitingForChild(): HeldPartition {
  const partition = new HeldPartition()
  partition.open('w')
  const create = { ...submitWithoutPayload('child'), executionId: idOf(9), key: undefined, class: 'child' }
  const join = { name: 'all', policy: 'all', need: 0, losers: 'let_run', total: 1, offset: 0 } as const
  partition.run('startChildren', { ...partition.held, children: [{ name: 'c', create }], join, park: true })
  return partition
}

describe('while an execution waits for its children', () => {
  test('its waitpoints and mailboxes take signals, which do not end the wait', () => {
    const partition = waitingForChild()

    expect([send(partition, 'w', '1'), send(partition, MAILBOX, '1')]).toEqual([
      ['delivered', 'buffered'],
      ['delivered', 'buffered'],
    ])
    expect(phaseOf(partition)).toBe('suspended')
    expect(listed(partition)).toEqual([
      [MAILBOX, 'mailbox', [], undefined],
      ['w', 'pending', [], undefined],
    ])
    expect(partition.run('listOpenWaitpoints', {}).waitpoints.map(({ state }) => state)).toEqual(['pending'])
  })

  test('a waitpoint that is closed does not end the wait', () => {
    const partition = waitingForChild()

    expect(close(partition, 'w')).toBe('closed')
    expect([phaseOf(partition), send(partition, 'w', '1')]).toEqual(['suspended', 'waitpoint_closed'])
  })
})

describe('while a step waits for its next try', () => {
  function parked(): HeldPartition {
    const partition = new HeldPartition()
    partition.open('w')
    const outcome = { kind: 'retry', failure, size: 12, delayMs: 500, park: true } as const
    const step = { stepKind: 'call', name: 'pay', attemptCount: 1, outcome } as const
    partition.run('recordStep', { ...partition.held, ...step })
    return partition
  }

  test('signals are buffered, also once the time has come', () => {
    const partition = parked()

    expect([send(partition, 'w', '1'), send(partition, MAILBOX, '1')].flat()).not.toContain('resumed')
    partition.advance(500)
    expect([send(partition, 'w', '2'), send(partition, MAILBOX, '2')]).toEqual([
      ['delivered', 'buffered'],
      ['delivered', 'buffered'],
    ])
    expect(phaseOf(partition)).toBe('suspended')
  })

  test('an operator resumes it, and the step keeps its state', () => {
    const partition = parked()
    partition.run('resumeExecution', { executionId: idOf(1), by: 'ops', reason: '' })

    expect(phaseOf(partition)).toBe('eligible')
    expect(partition.execution(idOf(1)).journal?.resumed).toEqual({ step: 'pay', cause: 'step_retry' })
  })
})

describe('a list of waitpoints', () => {
  test('names the signals that the wait expects at each of them', () => {
    const partition = new HeldPartition()
    for (const target of ['a', 'b', 'c']) partition.open(target)
    const both: ConditionNode = { ...leaf([], { need: 2 }), kind: 'group' }
    wait(partition, [both, leaf(['a'], { name: 'approve', parent: 0 }), leaf(['b'], { parent: 0 })])

    expect(listed(partition)).toEqual([
      ['a', 'awaited', ['approve'], 'answer'],
      ['b', 'awaited', [], 'answer'],
      ['c', 'pending', [], undefined],
    ])
  })
})

describe('a wait', () => {
  test('takes signals that came before in their order, each once, and leaves the others', () => {
    const partition = new HeldPartition()
    for (const target of ['a', 'b']) partition.open(target)
    for (const [target, key, name] of [
      ['b', '1', 'vote'],
      ['a', '2', 'other'],
      ['a', '3', 'vote'],
      ['a', '4', 'vote'],
    ] as const)
      send(partition, target, key, name)

    const result = wait(partition, [leaf(['a', 'b'], { name: 'vote', need: 2 })])

    expect(result).toMatchObject({ kind: 'answered', step: { wait: { satisfiers: [1, 3], closer: 3 } } })
    expect(storedEvents(partition.world.memory, 0).at(-1)).toMatchObject({
      type: 'step_recorded',
      attempt: 1,
      step: 'answer',
      effect: 'satisfied',
    })
  })

  test('frees the room of the links whose signals it takes', () => {
    const partition = new HeldPartition()
    for (const [i, source] of [ada, adaByLink, bobByLink].entries()) partition.signal(`k${i}`, source)
    wait(partition, [leaf([MAILBOX], { need: 2 })])

    expect(waitpointOf(partition, MAILBOX)).toMatchObject({ bufferedCount: 1, linkBufferedCount: 1 })
  })

  test('of waitpoints that are all closed ends at once, with the reason', () => {
    const partition = new HeldPartition()
    for (const target of ['a', 'b']) partition.open(target)
    for (const target of ['a', 'b']) close(partition, target)
    const result = wait(partition, [leaf(['a', 'b'])])

    expect(result).toMatchObject({ kind: 'answered', step: { state: { phase: 'closed', how: 'operator' } } })
    expect(storedEvents(partition.world.memory, 0).at(-1)).toMatchObject({ effect: 'operator', step: 'answer' })
  })

  test('stays open while one of its waitpoints is open, or opened by itself', () => {
    const one = new HeldPartition()
    for (const target of ['a', 'b']) one.open(target)
    close(one, 'a')
    expect(wait(one, [leaf(['a', 'b'])])).toMatchObject({ kind: 'suspended', until: undefined })

    const own = new HeldPartition()
    own.open('a')
    close(own, 'a')
    expect(wait(own, [leaf(['a', 'b'])], { opens: ['b'] })).toMatchObject({ kind: 'suspended' })
    expect(waitpointOf(own, 'b').lastSignalAt).toBeUndefined()
    own.advance(5)
    send(own, 'b', '1')
    expect(waitpointOf(own, 'b').lastSignalAt).toBe(own.world.now)
  })

  test('that opens waitpoints obeys their limit, those that are open included', () => {
    const partition = new HeldPartition()
    for (let i = 0; i < OPEN_WAITPOINT_MAX - 1; i++) partition.open(`w${i}`)
    const targets = ['x', 'y']

    expect(wait(partition, [leaf(targets)], { opens: targets })).toMatchObject({ code: 'waitpoint_limit_exceeded' })
    expect(wait(partition, [leaf(['x'])], { opens: ['x'] })).toMatchObject({ kind: 'suspended' })
  })

  test('on a mailbox has no waitpoint from which tokens are signed', () => {
    const partition = new HeldPartition()
    partition.open('a')

    const result = wait(partition, [leaf([MAILBOX, 'a'])])
    const again = wait(partition, [leaf([MAILBOX, 'a'])])

    for (const one of [result, again]) {
      expect(one.kind === 'suspended' || one.kind === 'already_suspended' ? one.waitpoints : []).toHaveLength(1)
    }
    expect([result.kind, again.kind]).toEqual(['suspended', 'already_suspended'])
  })

  test('until the waitpoint expires has the time of the first that does', () => {
    const partition = new HeldPartition()
    const open = (target: string, expiresInMs: number | undefined) =>
      partition.run('createWaitpoint', { ...partition.held, target, keyId: 'k1', expiresInMs })
    open('a', undefined)
    open('b', 700)

    expect(wait(partition, [leaf(['a', 'b'])], { untilExpiry: true })).toMatchObject({
      kind: 'suspended',
      until: partition.world.now + 700,
    })
  })
})

describe('a waitpoint whose wait was answered', () => {
  const opened = (partition: HeldPartition) => {
    const { executionId, fence } = partition.held
    return partition.run('createWaitpoint', { executionId, fence, target: 'a', keyId: 'k1' }).kind
  }

  test('is known, until a replay runs the wait again', () => {
    const partition = new HeldPartition()
    opened(partition)
    send(partition, 'a', '1')
    const answered = wait(partition, [leaf(['a'])])
    const position = answered.kind === 'answered' ? answered.step.position : 0

    expect([answered.kind, opened(partition), send(partition, 'a', '1')[0]]).toEqual([
      'answered',
      'already_opened',
      'duplicate',
    ])
    partition.change({ cuts: [{ from: position, to: position + 1 }] })
    expect(opened(partition)).toBe('opened')
    // The same key is another signal then.
    expect(send(partition, 'a', '1')).toEqual(['delivered', 'buffered'])
  })

  test('stays closed if an operator has closed it', () => {
    const partition = new HeldPartition()
    opened(partition)
    close(partition, 'a')

    expect([opened(partition), send(partition, 'a', '1')]).toEqual(['already_opened', 'waitpoint_closed'])
  })
})

describe('a buffer', () => {
  test('has room of its own for programs and for links', () => {
    const partition = new HeldPartition()
    partition.signal('0', ada)
    partition.changeMailbox({ bufferedCount: BUFFERED_SIGNAL_MAX + 3, linkBufferedCount: 4 })
    expect(partition.signal('1', ada)).toBe('delivered')
    expect(partition.signal('2', ada)).toEqual(['signal_buffer_full', BUFFERED_SIGNAL_MAX])

    partition.signal('3', adaByLink)
    partition.changeMailbox({ linkBufferedCount: LINK_BUFFERED_MAX - 1 })
    expect(partition.signal('4', adaByLink)).toBe('delivered')
    expect(partition.signal('5', adaByLink)).toEqual(['signal_buffer_full', LINK_BUFFERED_MAX])
    expect(partition.signal('6', bobByLink)).toBe('delivered')
  })
})
