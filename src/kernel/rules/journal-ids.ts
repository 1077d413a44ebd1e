/** Ids of journal records, and values derived from a journal alone. */
import type { Cut, Journal, OpenWaitpoint, Signal, Step, StepKind } from '../model/journal-schema.ts'
import type { Execution, Instant } from '../model/records.ts'
import { joinName, nameBefore } from '../model/names.ts'

const FIRST_LIFE = 0
const MAILBOX_PREFIX = '@'

export function newJournal(life: number, firstLife: number): Journal {
  return {
    life,
    firstLife,
    nextPosition: 0,
    stepCount: 0,
    stepBytes: 0,
    round: 0,
    signalCount: 0,
    bufferedCount: 0,
    open: [],
    cuts: [],
    era: 0,
    resumed: undefined,
    isRemoving: false,
    linkSignalCount: undefined,
    hasCompletedSteps: undefined,
    compensationCount: undefined,
    childCount: undefined,
    childCancels: undefined,
    hasStreams: undefined,
  }
}

/** Returns the journal of the next life of an execution. Records of the earlier lives are removed in the background. */
export function nextJournal({ life, firstLife, hasStreams }: Journal): Journal {
  return { ...newJournal(life + 1, firstLife), hasStreams }
}

/** Returns the journal of an execution, and creates it if there is none. */
export function journalOf(execution: Execution): Journal {
  const journal = execution.journal ?? newJournal(FIRST_LIFE, FIRST_LIFE)
  execution.journal = journal
  return journal
}

/** Returns the prefix of all ids of one life of an execution. */
export function scopeIn(executionId: string, life: number): string {
  return life === FIRST_LIFE ? executionId : joinName(executionId, String(life))
}

export function scopeOf(executionId: string, journal: Journal | undefined): string {
  return scopeIn(executionId, journal?.life ?? FIRST_LIFE)
}

/** Steps of different kinds may have the same name. */
export function stepKey(kind: StepKind, name: string): string {
  return joinName(kind, name)
}

/** `stepKey` makes the key. */
export function stepIdIn(scope: string, key: string): string {
  return joinName(scope, key)
}

export function waitpointIdIn(scope: string, target: string): string {
  return joinName(scope, target)
}

export function signalIdAt(waitpointId: string, round: number, key: string): string {
  return joinName(waitpointId, joinName(String(round), key))
}

export function scopeOfStep(step: Step): string {
  return nameBefore(step.id, stepKey(step.kind, step.name))
}

export function scopeOfWaitpoint(waitpointId: string, target: string): string {
  return nameBefore(waitpointId, target)
}

export function waitpointOfSignal(signal: Signal): string {
  return nameBefore(signal.id, joinName(String(signal.round), signal.key))
}

export function mailboxOf(signalName: string): string {
  return MAILBOX_PREFIX + signalName
}

/** Whether a target accepts signals until the execution ends, and not only while a handler keeps it open. */
export function isMailbox(target: string): boolean {
  return target.startsWith(MAILBOX_PREFIX)
}

/** Whether a replay has cut a step. */
export function isCut(journal: Journal, position: number): boolean {
  for (const cut of journal.cuts) if (position >= cut.from && position < cut.to) return true
  return false
}

/**
 * Cuts all steps recorded so far from a position on. `kept` is how many compensations were registered before: they belong to
 * steps that are kept.
 */
export function cutFrom(journal: Journal, position: number, kept: number): void {
  const cuts: Cut[] = []
  for (const cut of journal.cuts) if (cut.from < position) cuts.push({ from: cut.from, to: Math.min(cut.to, position) })
  if (position < journal.nextPosition) cuts.push({ from: position, to: journal.nextPosition })
  journal.cuts = cuts
  if (position === 0) journal.hasCompletedSteps = undefined
  // The handler registers the others again. Kept steps may have to be undone even if none is known to belong to them.
  const mayUndo = position > 0 && journal.compensationCount !== undefined
  journal.compensationCount = mayUndo ? kept : undefined
  journal.era = journal.era + 1
}

export function openWaitpointOf(journal: Journal | undefined, target: string): OpenWaitpoint | undefined {
  for (const open of journal?.open ?? []) if (open.target === target) return open
  return undefined
}

/** Whether an open waitpoint has expired, even if it is not closed yet. */
export function hasExpired(open: OpenWaitpoint, now: Instant): boolean {
  return open.expiresAt !== undefined && open.expiresAt <= now
}

export function withoutTargets(open: readonly OpenWaitpoint[], targets: readonly string[]): OpenWaitpoint[] {
  const left: OpenWaitpoint[] = []
  for (const waitpoint of open) if (!targets.includes(waitpoint.target)) left.push(waitpoint)
  return left
}

/** Returns the earliest expiry of an open waitpoint. */
export function firstExpiry(journal: Journal): Instant | undefined {
  let first: Instant | undefined = undefined
  for (const { expiresAt } of journal.open) {
    if (expiresAt !== undefined && (first === undefined || expiresAt < first)) first = expiresAt
  }
  return first
}

/** Whether cut steps or earlier lives wait for their removal. */
export function needsSweep(journal: Journal): boolean {
  return journal.cuts.length > 0 || journal.firstLife < journal.life
}
