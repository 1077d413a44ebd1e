import { describe, expect, test } from 'vitest'
import { CREATED_AT, LOOKED_AT, WAITS_FOR_OTHERS, activeOn, ended, membersOf, skippedBy } from './flow-graph.fixture.ts'
import type { DrawnNode } from './flow-graph.fixture.ts'
import { graphText } from './graph-text.ts'
import type { PublicFlowState } from '../../kernel/index.ts'
import type { Style } from './output.ts'

const plain = { style: (_style: Style, text: string) => text }

function drawn(nodes: readonly DrawnNode[], isWhole = false, flowState: PublicFlowState = 'running'): string {
  return graphText(membersOf(nodes), { at: LOOKED_AT, flowState, painter: plain, isWhole })
}

function completed(name: string, ms: number, rest: Partial<DrawnNode> = {}): DrawnNode {
  return { name, state: ended('completed', ms), startedAt: CREATED_AT, ...rest }
}

describe('a small graph', () => {
  test('stands level by level, each node with its state, its time and what it is after', () => {
    const nodes: DrawnNode[] = [
      completed('fetch', 1_200),
      completed('parse', 800, { after: ['fetch'] }),
      { name: 'thumbnails', state: activeOn('vm'), after: ['fetch'], startedAt: LOOKED_AT - 2_000 },
      { name: 'publish', state: WAITS_FOR_OTHERS, after: ['parse', 'thumbnails'] },
    ]
    expect(drawn(nodes)).toMatchInlineSnapshot(`
      "┌ ✓ fetch       completed             1s     0-fetch
      │
      ├ ✓ parse       completed             800ms  0-parse       after fetch
      ├ ● thumbnails  active                2s     0-thumbnails  after fetch                     on vm
      │
      └ · publish     waiting_dependencies         0-publish     after all of parse, thumbnails  waits for thumbnails"
    `)
  })

  test('shows the winner of a race, and those that were not needed any more', () => {
    const lost = { reason: 'sibling_quorum_satisfied', by: 'flow' }
    const nodes: DrawnNode[] = [
      { name: 'large', state: ended('cancelled', 300, lost), startedAt: CREATED_AT },
      completed('small', 300),
      { name: 'local', state: ended('cancelled', 300, lost) },
      {
        name: 'answer',
        after: ['large', 'small', 'local'],
        policy: { policy: 'any_of' },
      },
    ]
    expect(drawn(nodes)).toMatchInlineSnapshot(`
      "┌ ■ large   superseded  300ms  0-large                                     others were enough
      ├ ✓ small   completed   300ms  0-small
      ├ ■ local   superseded         0-local                                     others were enough
      │
      └ ○ answer  waiting            0-answer  after any of large, small, local  ready for 1m"
    `)
  })

  test('marks a failure that an edge ignores, and every failure of a flow that has completed', () => {
    const nodes: DrawnNode[] = [
      { name: 'lint', state: ended('failed', 300), mayFail: true, rest: { failure: failureOf('2 warnings') } },
      { name: 'test', state: ended('failed', 300), rest: { failure: failureOf('no luck') } },
    ]
    expect(drawn(nodes).split('\n')).toEqual([
      expect.stringMatching(/✗ lint +failed +0-lint +ignored: error: 2 warnings$/),
      expect.stringMatching(/✗ test +failed +0-test +error: no luck$/),
    ])
    expect(drawn(nodes, false, 'completed')).toMatch(/0-test +ignored: error: no luck$/)
  })

  test('shows how far a quorum has come', () => {
    const nodes: DrawnNode[] = [
      completed('ada', 2_000),
      { name: 'bob', state: ended('failed', 1_000), startedAt: CREATED_AT, rest: { failure: failureOf('no time') } },
      { name: 'cy', state: activeOn('vm'), startedAt: CREATED_AT },
      { name: 'dee', state: { phase: 'delayed', until: LOOKED_AT + 5_000, cause: 'retry' } },
      { name: 'eve', state: { phase: 'delayed', until: LOOKED_AT + 90_000, cause: 'submitted' } },
      {
        name: 'decide',
        state: WAITS_FOR_OTHERS,
        after: ['ada', 'bob', 'cy', 'dee', 'eve'],
        policy: { policy: 'quorum', need: 3 },
      },
    ]
    expect(drawn(nodes)).toMatchInlineSnapshot(`
      "┌ ✓ ada     completed             2s  0-ada
      ├ ✗ bob     failed                1s  0-bob                                           error: no time
      ├ ● cy      active                1m  0-cy                                            on vm
      ├ ◔ dee     delayed                   0-dee                                           retried in 5s
      ├ ◔ eve     delayed                   0-eve                                           in 1m 30s
      │
      └ · decide  waiting_dependencies      0-decide  after 3 of 5: ada, bob, cy, dee, eve  1 of 3 completed, 1 did not, 3 open"
    `)
  })

  test('shows which failure skipped what', () => {
    const nodes: DrawnNode[] = [
      completed('build', 4_000),
      completed('unit', 9_000, { after: ['build'] }),
      {
        name: 'e2e',
        state: ended('failed', 5_000),
        startedAt: CREATED_AT + 4_000,
        after: ['build'],
        rest: { failure: failureOf('the button is gone\nand more') },
      },
      { name: 'stage', state: skippedBy('e2e'), after: ['unit', 'e2e'] },
      { name: 'deploy', state: skippedBy('stage'), after: ['stage'] },
      { name: 'notes', state: ended('cancelled', 1, { reason: 'not now', by: 'cli' }), after: ['build'] },
    ]
    expect(drawn(nodes)).toMatchInlineSnapshot(`
      "┌ ✓ build   completed  4s  0-build
      │
      ├ ✓ unit    completed  9s  0-unit    after build
      ├ ✗ e2e     failed     1s  0-e2e     after build             error: the button is gone
      ├ ■ notes   cancelled      0-notes   after build             not now (cli)
      │
      ├ ↷ stage   skipped        0-stage   after all of unit, e2e  because e2e failed
      │
      └ ↷ deploy  skipped        0-deploy  after stage             because stage was skipped"
    `)
  })

  test('of one member has no line to hang it on, and of none is nothing', () => {
    expect(drawn([{ name: 'alone' }])).toMatch(/^─ ○ alone {2}waiting {4}0-alone +ready for 1m$/)
    expect(drawn([])).toBe('')
  })

  test('notes the worker, the progress and problems of a running member', () => {
    const attempt = { number: 2, kind: 'retry', startedAt: CREATED_AT, usedMs: 0 } as const
    const nodes: DrawnNode[] = [
      {
        name: 'slow',
        state: activeOn('vm', { reason: 'enough', by: 'cli', at: CREATED_AT, forceAt: LOOKED_AT + 1 }),
        startedAt: CREATED_AT,
        rest: {
          attempt: { ...attempt, workerId: 'vm', workerInstanceId: 'i' },
          progress: { percent: 40, message: 'half way', at: CREATED_AT },
        },
      },
      { name: 'kept', state: { phase: 'blocked', by: 'hold', gate: undefined } },
    ]
    expect(drawn(nodes)).toMatchInlineSnapshot(`
      "┌ ● slow  active   1m  0-slow    on vm, attempt 2 of 3, 40%, half way, cancel requested
      └ ○ kept  waiting      0-kept    held"
    `)
  })

  test('measures what was replayed from its new start', () => {
    const lastReplay = { requestId: 'r', reason: undefined, by: undefined, at: CREATED_AT + 20_000 }
    const attempt = { number: 2, kind: 'replay', usedMs: 0, workerId: 'vm', workerInstanceId: 'i' } as const
    const again = { ...attempt, startedAt: CREATED_AT + 21_000 }
    const before = { ...attempt, startedAt: CREATED_AT }
    expect(
      drawn([
        completed('again', 22_000, { rest: { lastReplay, attempt: again } }),
        completed('stopped', 22_000, { rest: { lastReplay, attempt: before } }),
      ]),
    ).toMatchInlineSnapshot(`
      "┌ ✓ again    completed  1s  0-again
      └ ✓ stopped  completed      0-stopped"
    `)
  })

  test('text from outside cannot recolour the screen, and takes one line', () => {
    const loud = failureOf(`\u001b[31m${'x'.repeat(300)}`)
    const text = drawn([{ name: 'loud', state: ended('failed', 1), rest: { failure: loud } }])
    expect(text).not.toContain('\u001b')
    expect(text.length).toBeLessThan(150)
  })
})

describe('a large graph', () => {
  /** One that fans out to 498 others, and one that waits for them all. */
  function fan(stateOf: (i: number) => Partial<DrawnNode>): DrawnNode[] {
    const parts = Array.from({ length: 498 }, (_, i) => ({ name: `part-${i}`, after: ['split'], ...stateOf(i) }))
    const after = parts.map(({ name }) => name)
    return [completed('split', 100), ...parts, { name: 'join', state: WAITS_FOR_OTHERS, after }]
  }

  test('of 500 members is collapsed to counts and the members of interest', () => {
    const nodes = fan((i) => {
      if (i < 200) return { state: ended('completed', 1_000), startedAt: CREATED_AT }
      if (i % 100 === 17) return { state: ended('failed', 9), rest: { failure: failureOf('no such part') } }
      return i < 216 ? { state: activeOn('vm'), startedAt: LOOKED_AT - i } : {}
    })
    expect(drawn(nodes)).toMatchInlineSnapshot(`
      "┌ level 1: 1 completed
      │
      ├ level 2: 200 completed, 3 failed, 16 active, 279 waiting
      │   ● part-200  active                200ms  0-part-200  after split                                       on vm
      │   ● part-201  active                201ms  0-part-201  after split                                       on vm
      │   ● part-202  active                202ms  0-part-202  after split                                       on vm
      │   ● part-203  active                203ms  0-part-203  after split                                       on vm
      │   ● part-204  active                204ms  0-part-204  after split                                       on vm
      │   ✗ part-217  failed                       0-part-217  after split                                       error: no such part
      │   ✗ part-317  failed                       0-part-317  after split                                       error: no such part
      │   ✗ part-417  failed                       0-part-417  after split                                       error: no such part
      │
      └ level 3: 1 waiting_dependencies
          · join      waiting_dependencies         0-join      after all of part-0, part-1, part-2 and 495 more  waits for part-200, part-201, part-202 and 292 more"
    `)
  })

  test('that is deep takes levels together in which nothing is to be seen', () => {
    const nodes = Array.from({ length: 1_000 }, (_, i): DrawnNode => {
      const after = i === 0 ? [] : [`step-${i - 1}`]
      if (i < 400) return completed(`step-${i}`, 10, { after })
      return { name: `step-${i}`, after, state: i === 400 ? activeOn('vm') : WAITS_FOR_OTHERS, startedAt: LOOKED_AT }
    })
    expect(drawn(nodes)).toMatchInlineSnapshot(`
      "┌ levels 1 to 400: 400 completed
      │
      ├ level 401: 1 active
      │   ● step-400  active                0ms  0-step-400  after step-399  on vm
      │
      ├ level 402: 1 waiting_dependencies
      │   · step-401  waiting_dependencies       0-step-401  after step-400
      │
      └ levels 403 to 1000: 598 waiting_dependencies"
    `)
  })

  test('is whole if that is asked for', () => {
    const nodes = fan(() => ({}))
    expect(drawn(nodes, true).split('\n')).toHaveLength(502)
  })

  test('in which everything fails stays readable', () => {
    const nodes = fan(() => ({ state: ended('failed', 1), rest: { failure: failureOf('down') } }))
    expect(drawn(nodes).split('\n').length).toBeLessThan(20)
  })
})

test('conditions, and joins of ends, are described', () => {
  const nodes = [
    completed('measure', 1),
    { name: 'shrink', state: ended('skipped', 2, { reason: 'condition' }), after: ['measure'], hasCondition: true },
    { name: 'publish', state: activeOn('vm'), after: ['measure'] },
    { name: 'report', state: WAITS_FOR_OTHERS, after: ['shrink', 'publish'], policy: { policy: 'ended' } },
  ] as const
  const text = drawn(nodes)
  expect(text).toContain('after measure, if its condition is met')
  expect(text).toContain('its condition was not met')
  expect(text).toContain('after the end of shrink, publish')
  expect(text).toContain('waits for the end of publish')
})

test('colours are for terminals', () => {
  const styled = graphText(membersOf([completed('build', 1)]), {
    flowState: 'running',
    at: LOOKED_AT,
    painter: { style: (style, text) => `<${style}>${text}</>` },
  })
  expect(styled).toContain('<green>✓</> build')
  expect(styled).toContain('<green>completed</>')
})

function failureOf(message: string) {
  return { category: 'error', message, stack: undefined, at: CREATED_AT }
}
