import { expect, test } from 'vitest'
import type { SignalSummary, StepSummary } from '../../client/index.ts'
import type { ExecutionId } from '../../kernel/index.ts'
import { Output } from './output.ts'
import { recordedText } from './steps-text.ts'

const AT = Date.UTC(2026, 0, 2, 3, 4, 5)
const output = new Output(process.stdout, process.stderr, false)

const step: StepSummary = {
  name: 'build',
  kind: 'call',
  position: 0,
  state: 'completed',
  createdAt: AT,
  changedAt: AT,
  attemptCount: 1,
  size: 15,
  isFinal: true,
  value: undefined,
  failure: undefined,
  retryAt: undefined,
  how: undefined,
  by: undefined,
  reason: undefined,
  wait: undefined,
  child: undefined,
  join: undefined,
}
const join: NonNullable<StepSummary['join']> = {
  policy: 'quorum',
  need: 2,
  total: 3,
  completed: 1,
  failed: 1,
  verdict: 'pending',
}
const wait: NonNullable<StepSummary['wait']> = {
  reason: 'approval',
  until: AT,
  onTimeout: 'continue',
  places: ['review'],
  counts: [
    { name: 'approve', need: 2, has: 1 },
    { name: undefined, need: 1, has: 0 },
  ],
  signals: [1],
  reminderCount: 0,
  isEscalated: false,
  asks: undefined,
}
const vote: SignalSummary = {
  sequence: 1,
  name: 'approve',
  waitpoint: 'review',
  by: { type: 'token', identity: 'ada' },
  at: AT,
  effect: 'counted',
  key: 'k',
  size: 7,
  value: { note: 'fine' },
}

function lines(steps: readonly StepSummary[], signals: readonly SignalSummary[] = [], withValues = false): string[] {
  return recordedText({ steps, signals }, withValues, output).split('\n')
}

test.each<[string, Partial<StepSummary>]>([
  ['0  build  call  completed      1     15  2026-01-02T03:04:05.000Z', {}],
  [
    '0  build  call  failed      1     15  2026-01-02T03:04:05.000Z  error: no answer',
    { state: 'failed', failure: { category: 'error', message: 'no answer\nat line 2', stack: undefined, at: AT } },
  ],
  [
    '0  build  wait  open       1     15  2026-01-02T03:04:05.000Z  1 of 2 approve, 0 of 1 until 2026-01-02T03:04:05.000Z',
    { kind: 'wait', state: 'open', wait },
  ],
  [
    '0  build  wait  operator      1     15  2026-01-02T03:04:05.000Z  by eve (by phone)',
    { kind: 'wait', state: 'closed', how: 'operator', by: 'eve', reason: 'by phone', wait },
  ],
  [
    '0  build  sleep  completed      1     15  2026-01-02T03:04:05.000Z',
    { kind: 'sleep', state: 'closed', how: 'timed_out' },
  ],
  [
    '0  build  child  open       1     15  2026-01-02T03:04:05.000Z  0-17',
    { kind: 'child', state: 'open', child: { id: '0-17' as ExecutionId, outcome: undefined, isDetached: false } },
  ],
  [
    '0  build  child  started      1     15  2026-01-02T03:04:05.000Z  0-17',
    { kind: 'child', state: 'completed', child: { id: '0-17' as ExecutionId, outcome: undefined, isDetached: true } },
  ],
  [
    '0  build  child  cancelled      1     15  2026-01-02T03:04:05.000Z  0-17 cancelled: not needed',
    {
      kind: 'child',
      state: 'failed',
      child: { id: '0-17' as ExecutionId, outcome: 'cancelled', isDetached: false },
      failure: { category: 'cancelled', message: 'not needed', stack: undefined, at: AT },
    },
  ],
  [
    '0  build  join  open       1     15  2026-01-02T03:04:05.000Z  2 of 3: 1 completed, 1 did not',
    { kind: 'join', state: 'open', join },
  ],
  [
    '0  build  join  satisfied      1     15  2026-01-02T03:04:05.000Z  all 3: 3 completed',
    {
      kind: 'join',
      state: 'closed',
      how: 'satisfied',
      join: { ...join, policy: 'all', completed: 3, failed: 0, verdict: 'satisfied' },
    },
  ],
])('a step is one line: %s', (line, changes) => {
  expect(lines([{ ...step, ...changes }])[1]).toBe(line)
})

test('signals follow the steps, with who sent them and what they did', () => {
  expect(lines([step], [vote]).at(-1)).toBe(
    '1  approve  review     ada (token)  counted      7  2026-01-02T03:04:05.000Z',
  )
})

test('values are shown only if they are asked for, and nothing in them can move the cursor', () => {
  const secret = { ...step, value: 'a\u001b[2Jb' }

  expect(lines([secret], [vote]).join('\n')).not.toContain('fine')
  const shown = lines([secret], [vote], true).join('\n')
  expect(shown).toContain('signal 1 approve\n{\n  "note": "fine"\n}')
  expect(shown).not.toContain('\u001b[2J')
})
