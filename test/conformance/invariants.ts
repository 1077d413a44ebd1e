/**
 * What must be true of a partition whatever was done to it. Each check derives what it expects on its own, from the
 * rules rather than from the kernel's helpers, and describes what it found instead.
 */
import type { PartitionDump } from '../../src/stores/store.ts'
import { attemptProblems } from './attempt-invariants.ts'
import { budgetProblems } from './budget-invariants.ts'
import { childProblems } from './child-invariants.ts'
import { consumerProblems } from './consumer-invariants.ts'
import { eventProblems, orderProblems } from './event-invariants.ts'
import { executionProblems } from './execution-invariants.ts'
import { flowProblems } from './flow-invariants.ts'
import { graphProblems } from './graph-invariants.ts'
import { derivationProblems, indexProblems } from './index-invariants.ts'
import { limitProblems } from './limit-invariants.ts'
import { shapingProblems } from './shaping-invariants.ts'
import { scheduleProblems } from './schedule-invariants.ts'
import { journalProblems } from './journal-invariants.ts'
import { streamProblems } from './stream-invariants.ts'

/** `firstSequence` is the oldest event that is still kept: what was trimmed cannot be checked. */
export function problemsOf(dump: PartitionDump, firstSequence = 1): string[] {
  return [
    ...indexProblems(dump),
    ...executionProblems(dump),
    ...attemptProblems(dump),
    ...flowProblems(dump),
    ...graphProblems(dump),
    ...journalProblems(dump),
    ...streamProblems(dump),
    ...childProblems(dump),
    ...limitProblems(dump),
    ...scheduleProblems(dump),
    ...shapingProblems(dump),
    ...eventProblems(dump, firstSequence),
  ]
}

/** The same for a partition of another family than that of executions. */
export function sharedProblemsOf(dump: PartitionDump): string[] {
  return [
    ...derivationProblems(dump),
    ...limitProblems(dump),
    ...consumerProblems(dump),
    ...budgetProblems(dump),
    ...orderProblems(dump.events, dump.events[0]?.sequence ?? 1),
  ]
}
