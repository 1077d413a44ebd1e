import { expect, test } from 'vitest'
import type { EdgeGroup, ExecutionId, Explanation } from '../../kernel/index.ts'
import { explanationText } from './explanation-text.ts'

const AT = Date.UTC(2026, 0, 2, 3, 4, 5)
const failure = { category: 'error', message: 'no answer\nat line 2', stack: undefined, at: AT }

const waiting = {
  why: 'waits_for_worker',
  namespace: 'default',
  needs: [],
  since: AT,
  lane: 'mail',
  task: 'send',
  version: undefined,
  refusals: undefined,
  ahead: 0,
  aheadLimit: 1_000,
  activeInLane: 0,
  hold: undefined,
  isTaskHeld: false,
} as const
const delayed = {
  why: 'delayed',
  until: AT,
  cause: 'submitted',
  refusals: undefined,
  failure: undefined,
  failureCount: 0,
  attempts: 3,
  isOverdue: false,
} as const
const running = {
  why: 'running',
  attempt: 2,
  since: AT,
  workerId: 'w1',
  workerInstanceId: 'i1',
  leaseExpiresAt: AT + 30_000,
  isLeaseExpired: false,
  cancel: undefined,
} as const
const suspended: Extract<Explanation, { why: 'suspended' }> = {
  why: 'suspended',
  since: AT,
  step: 'review',
  stepKind: 'wait',
  reason: 'signal',
  until: undefined,
  isOverdue: false,
  onTimeout: 'resume',
  isEscalated: false,
  targets: ['@paid'],
  from: [],
  satisfierCount: 0,
  counts: [{ name: 'paid', has: 0, need: 1 }],
}
const votes = [
  { name: 'approve', has: 1, need: 2 },
  { name: 'reject', has: 0, need: 1 },
]
const ended = {
  why: 'ended',
  outcome: 'failed',
  endedAt: AT,
  reason: undefined,
  by: undefined,
  failure: undefined,
  undoFailure: undefined,
} as const

const blocked: Extract<Explanation, { why: 'blocked' }> = {
  why: 'blocked',
  by: 'dependencies',
  since: AT,
  waitsFor: [],
  waitsForCount: 0,
  group: undefined,
  limit: undefined,
  line: undefined,
}
const build = { executionId: '0-a' as ExecutionId, name: 'build', state: 'active' } as const
const group: EdgeGroup = {
  policy: 'all_of',
  need: 0,
  losers: 'let_run',
  total: 3,
  completed: 0,
  failed: 0,
  skipped: 0,
  verdict: 'pending',
  decidedAt: undefined,
  owedFrom: undefined,
  tolerated: undefined,
  excused: undefined,
}

test.each<[Explanation, string]>([
  [
    waiting,
    "It has been ready since 2026-01-02T03:04:05.000Z and waits for a worker. It is first in line. No worker holds any execution of lane 'mail' now: check that a worker with a handler for task 'send' serves it, since no other can take it.",
  ],
  [{ ...waiting, version: 3 }, "check that a worker with a handler for version 3 of task 'send' serves it"],
  [{ ...waiting, version: 3, activeInLane: 2 }, 'If others of the lane overtake it, no worker serves this version.'],
  [
    { ...waiting, needs: ['gpu', 'region:eu'] },
    'It needs gpu, region:eu: only workers with these capabilities can take it.',
  ],
  [{ ...waiting, namespace: 'acme' }, "It is in namespace 'acme': workers of other namespaces leave it."],
  [{ ...waiting, ahead: 12, activeInLane: 3 }, '12 executions are ahead of it. Workers hold 3 executions of lane'],
  [{ ...waiting, ahead: 1_001 }, 'More than 1000 executions are ahead of it'],
  [delayed, 'It was submitted with a delay. It may run from 2026-01-02T03:04:05.000Z on.'],
  [{ ...delayed, cause: 'worker' }, 'Its handler postponed it.'],
  [
    {
      ...delayed,
      cause: 'worker',
      refusals: { count: 2, builds: ['a1', 'b2'], reason: 'input.box: Required', at: AT },
    },
    'Workers refused it 2 times (build a1, b2), because it does not fit their program: input.box: Required. Another build may accept it. It may run from',
  ],
  [
    { ...waiting, refusals: { count: 1, builds: ['a1'], reason: 'Rejected.', at: AT } },
    'Workers refused it once (build a1), because it does not fit their program: Rejected. Another build',
  ],
  [
    { ...delayed, cause: 'retry', failureCount: 1, failure },
    'Attempt 1 of 3 failed (error: no answer); it waits before the next.',
  ],
  [{ ...delayed, isOverdue: true }, 'Its delay ended at 2026-01-02T03:04:05.000Z'],
  [{ ...blocked, by: 'dependencies' }, 'executions that it depends on have not ended'],
  [{ ...blocked, by: 'hold' }, 'nothing of its flow runs before the flow is whole and sealed'],
  [
    { ...blocked, waitsFor: [build], waitsForCount: 1, group: { ...group, total: 1 } },
    "It waits since 2026-01-02T03:04:05.000Z for the one that it depends on. Not ended yet: 'build' (active).",
  ],
  [
    { ...blocked, waitsFor: [build, { ...build, name: '' }], waitsForCount: 14, group: { ...group, total: 20 } },
    "for all 20 that it depends on. Not ended yet: 'build' (active), 0-a (active) and 12 more.",
  ],
  [
    { ...blocked, waitsFor: [build], waitsForCount: 1, group: { ...group, policy: 'quorum', need: 2, completed: 1 } },
    "until 2 of 3 have completed; 1 has so far. Not ended yet: 'build' (active).",
  ],
  [
    running,
    "It is running: attempt 2 on worker 'w1' since 2026-01-02T03:04:05.000Z. The worker's lease runs until 2026-01-02T03:04:35.000Z.",
  ],
  [{ ...running, isLeaseExpired: true }, "The worker's lease ran out"],
  [
    { ...running, cancel: { reason: 'too late', by: 'ada', at: AT, forceAt: AT + 1_000 } },
    'ada asked for it to be cancelled (too late); it ends at 2026-01-02T03:04:06.000Z at the latest.',
  ],
  [
    { ...suspended, reason: 'approval', targets: ['review'], from: ['ada', 'bob'], counts: [] },
    "It waits for approval by 'ada' or 'bob' in 'review' since 2026-01-02T03:04:05.000Z. It has no timeout. Answer with flowfabric approve <id> review, or resume it without an answer: flowfabric resume <id>.",
  ],
  [
    { ...suspended, from: ['a', 'b', 'c', 'd', 'e', 'f', 'g'], counts: [] },
    "It waits for a signal 'paid' by 'a' or 'b' or 'c' or 'd' or 'e' or 2 more in 'review' since 2026-01-02T03:04:05.000Z. It has no timeout. Answer with flowfabric signal <id> paid, or resume it without an answer: flowfabric resume <id>.",
  ],
  [
    { ...suspended, reason: 'approval', targets: ['review'], counts: votes },
    "It waits for approval in 'review' since 2026-01-02T03:04:05.000Z; so far 1 of 2 'approve', 0 of 1 'reject'. It has no timeout. Answer with flowfabric approve <id> review, or resume it without an answer: flowfabric resume <id>.",
  ],
  [
    { ...suspended, step: 'payment', until: AT + 1_000, onTimeout: 'fail' },
    "It waits for a signal 'paid' in 'payment' since 2026-01-02T03:04:05.000Z; so far 0 of 1 'paid'. If that has not come by 2026-01-02T03:04:06.000Z, it fails. Answer with flowfabric signal <id> paid,",
  ],
  [
    { ...suspended, targets: ['door'], until: AT + 1_000, isOverdue: true, onTimeout: 'escalate' },
    'The wait timed out at 2026-01-02T03:04:06.000Z: it keeps waiting, marked for an operator as soon as a worker or an engine runs. Answer with flowfabric signal <id> <name> --waitpoint door,',
  ],
  [
    { ...suspended, reason: 'operator_review', isEscalated: true },
    "Its wait in 'review' since 2026-01-02T03:04:05.000Z timed out, and it waits for an operator now. The signals it waited for still end the wait.",
  ],
  [
    { ...suspended, reason: 'operator_review', targets: [] },
    "It waits for an operator in 'review' since 2026-01-02T03:04:05.000Z. It has no timeout. Resume it with flowfabric resume <id>.",
  ],
  [
    { ...suspended, step: 'embargo', stepKind: 'sleep', until: AT + 1_000 },
    "It sleeps in 'embargo' since 2026-01-02T03:04:05.000Z; it resumes at 2026-01-02T03:04:06.000Z.",
  ],
  [
    { ...suspended, stepKind: 'sleep', until: AT + 1_000, isOverdue: true },
    'Its delay ended at 2026-01-02T03:04:06.000Z: it resumes as soon as a worker or an engine runs.',
  ],
  [
    { ...suspended, step: 'charge', stepKind: 'call', until: AT + 1_000 },
    "Step 'charge' failed at 2026-01-02T03:04:05.000Z and will be retried; it resumes at 2026-01-02T03:04:06.000Z.",
  ],
  [{ ...ended, failure }, 'It ended at 2026-01-02T03:04:05.000Z: failed (error: no answer).'],
  [{ ...ended, outcome: 'cancelled', by: 'ada', reason: 'too late' }, 'cancelled by ada (too late).'],
  [
    { ...ended, outcome: 'cancelled', by: 'flow', reason: 'sibling_quorum_satisfied' },
    'cancelled, since enough others of its race had completed.',
  ],
  [
    { ...ended, outcome: 'cancelled', by: 'flow', reason: 'sibling_quorum_impossible' },
    'cancelled, since too few others of its race could still complete.',
  ],
  [
    { ...ended, outcome: 'cancelled', by: '0-p', reason: 'sibling_failed' },
    'cancelled, since another child did not complete and its parent waited for all.',
  ],
  [
    { ...ended, outcome: 'cancelled', by: '0-p', reason: 'sibling_quorum_impossible' },
    'cancelled, since too few other children could still complete.',
  ],
  [
    { ...ended, outcome: 'skipped', by: '0-a', reason: 'dependency_impossible' },
    'skipped, since what it depended on did not complete: 0-a.',
  ],
  [{ ...ended, outcome: 'skipped', reason: 'condition' }, 'skipped, since its condition was not met.'],
  [
    { ...ended, outcome: 'skipped', reason: 'limit seats had no permit (concurrency)' },
    'skipped, since limit seats had no permit (concurrency).',
  ],
  [
    { ...ended, outcome: 'skipped', by: '0-a', reason: 'upstream_condition' },
    'skipped, since a condition was not met before it: 0-a (skipped).',
  ],
  [
    { ...ended, outcome: 'cancelled', by: 'flow', reason: 'sibling_quorum_skipped' },
    'cancelled, since conditions skipped too many others of its race.',
  ],
  [
    {
      ...ended,
      outcome: 'cancelled',
      by: 'ada',
      reason: 'rain',
      undoFailure: {
        category: 'compensation_failed',
        message: "compensation 'refund' failed: no such charge",
        stack: undefined,
        at: AT,
      },
    },
    "cancelled by ada (rain). Not all of its steps were undone: compensation 'refund' failed: no such charge.",
  ],
  [{ ...ended, outcome: 'completed' }, 'It ended at 2026-01-02T03:04:05.000Z: completed.'],
])('%j', (explanation, text) => {
  expect(explanationText(explanation)).toContain(text)
})

test('what was skipped names the upstream that did not complete, and how that ended', () => {
  const skipped = { ...ended, outcome: 'skipped', by: '0-a', reason: 'dependency_impossible' } as const

  expect(explanationText(skipped, { skippedBy: { node: 'build', outcome: 'failed' } })).toContain(
    "skipped, since what it depended on did not complete: 'build' (failed).",
  )
})

const none = { liveCount: 0, handlerCount: 0, servingCount: 0, slots: 0, running: 0, missing: [] }

test.each([
  [none, "No live worker serves task 'send' in lane 'mail'. No workers are live"],
  [{ ...none, liveCount: 2 }, "No live worker serves task 'send' in lane 'mail'. 2 workers are live"],
  [{ ...none, liveCount: 2, handlerCount: 1, missing: ['gpu'] }, "serves task 'send' in lane 'mail' has gpu."],
  [{ ...none, liveCount: 2, handlerCount: 2 }, 'has all capabilities that it needs.'],
  [{ ...none, liveCount: 3, handlerCount: 2, servingCount: 1, slots: 8, running: 8 }, 'with 8 of 8 slots taken'],
])('an execution that waits names the workers that serve it: %j', (workers, text) => {
  expect(explanationText(waiting, { workers })).toContain(text)
})
