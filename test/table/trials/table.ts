/** The table: every trial in every situation, called twice with the same input, with its outcome. */
import type { FabricEvent, Phase } from '../../../src/kernel/index.ts'
import { budgetTrials } from './budget-trials.ts'
import { callerTrials } from './caller-trials.ts'
import { canonicalText } from './canonical-text.ts'
import { childSituations } from './child-situations.ts'
import { childTrials } from './child-trials.ts'
import { conditionalMembers } from './conditional-members.ts'
import { engineTrials } from './engine-trials.ts'
import { besideSituations, memberSituations } from './flow-situations.ts'
import { flowTrials } from './flow-trials.ts'
import { graphTrials } from './graph-trials.ts'
import { holderTrials } from './holder-trials.ts'
import { furtherSituations, journalSituations } from './journal-situations.ts'
import { journalTrials } from './journal-trials.ts'
import { streamTrials } from './stream-trials.ts'
import { laneTrials } from './lane-trials.ts'
import { limitSituations } from './limit-situations.ts'
import { limitTrials } from './limit-trials.ts'
import { storedEvents, storedRecord, storedText } from './memory.ts'
import type { Memory, Said } from './memory.ts'
import { perform } from './operation-call.ts'
import { auditTrials } from './audit-trials.ts'
import { consumerTrials } from './consumer-trials.ts'
import { scheduleTrials } from './schedule-trials.ts'
import { shapingTrials } from './shaping-trials.ts'
import { situations } from './situations.ts'
import type { Situation } from './situations.ts'
import type { Trial } from './trial.ts'
import { workerTrials } from './worker-trials.ts'
import { waitingMembers } from './waiting-members.ts'
import { START_AT, executionId, say } from './world.ts'
import type { World } from './world.ts'

export const trials: readonly Trial[] = callerTrials
  .concat(holderTrials)
  .concat(engineTrials)
  .concat(flowTrials)
  .concat(graphTrials)
  .concat(journalTrials)
  .concat(streamTrials)
  .concat(childTrials)
  .concat(workerTrials)
  .concat(laneTrials)
  .concat(limitTrials)
  .concat(scheduleTrials)
  .concat(consumerTrials)
  .concat(auditTrials)
  .concat(budgetTrials)
  .concat(shapingTrials)

const members = memberSituations.concat(waitingMembers).concat(conditionalMembers)
const alone = situations.concat(journalSituations).concat(childSituations).concat(members)
const remembering = situations
  .concat(journalSituations)
  .concat(childSituations)
  .concat(furtherSituations)
  .concat(waitingMembers)
const limitedToo = situations.concat(limitSituations)
const withFlows = situations.slice(0, 1).concat(besideSituations).concat(members)

/** One situation of each phase, and none at all. Their names begin with the phase. */
const phaseOf = ({ name }: Situation): string => name.split(/[ ,]/, 1)[0] ?? ''
const everyPhase = alone.filter(
  (situation, i) => alone.findIndex((other) => phaseOf(other) === phaseOf(situation)) === i,
)

/** Where a trial is made: an execution beside a flow is to most operations like one without. */
export function situationsOf(trial: Trial): readonly Situation[] {
  if (trial.about === 'flow') return withFlows
  if (trial.about === 'registry') return everyPhase
  if (trial.about === 'limit') return limitedToo
  return trial.about === 'journal' ? remembering : alone
}

/** Brings a situation about, and whatever the trial wants to have happened. */
export function arrange(trial: Trial, situation: Situation): World {
  const world = situation.build()
  trial.prepare?.(world)
  return world
}

/** Between the first call and the second, so that a stored answer can be distinguished from a fresh one. */
export const REPEAT_AFTER_MS = 500

export interface Saying {
  readonly said: Said<{ readonly kind: string }>
  readonly events: FabricEvent[]
  /** Everything stored afterwards, as text. */
  readonly stored: string
}

export interface Outcome {
  readonly trial: Trial
  readonly situation: Situation
  readonly phaseBefore: Phase | 'absent'
  readonly epochBefore: number
  readonly phaseBetween: Phase | 'absent'
  readonly phaseAfter: Phase | 'absent'
  readonly storedBefore: string
  readonly first: Saying
  readonly again: Saying
  readonly memory: Memory
}

export function trialName(trial: Trial): string {
  return trial.manner === '' ? trial.operation : trial.operation + ', ' + trial.manner
}

export function runTrial(trial: Trial, situation: Situation): Outcome {
  const world = arrange(trial, situation)
  return runTrialIn(world, storedText(world.memory), trial, situation)
}

/** The same in a world that `arrange` has made, with the text of what is stored in it. */
export function runTrialIn(world: World, storedBefore: string, trial: Trial, situation: Situation): Outcome {
  const memory = world.memory
  const phaseBefore = phaseIn(memory)
  const epochBefore = storedRecord(memory, 'execution', executionId)?.epoch ?? 0
  const speak = (): Saying => {
    const eventCount = memory.events.length
    const said = say(world, trial.blobs, (tx) => perform(tx, trial))
    return { said, events: storedEvents(memory, eventCount), stored: storedText(memory) }
  }
  world.now = START_AT + trial.atMs
  const first = speak()
  const phaseBetween = phaseIn(memory)
  world.now = world.now + REPEAT_AFTER_MS
  const again = speak()
  return {
    trial,
    situation,
    phaseBefore,
    epochBefore,
    phaseBetween,
    phaseAfter: phaseIn(memory),
    storedBefore,
    first,
    again,
    memory,
  }
}

function phaseIn(memory: Memory): Phase | 'absent' {
  return storedRecord(memory, 'execution', executionId)?.state.phase ?? 'absent'
}

/** A row of the table as far as a store can matter: where something is written, and the first of each answer that writes nothing. */
export function telling(trial: Trial): readonly Outcome[] {
  const answers = new Set<string>()
  return situationsOf(trial)
    .map((situation) => runTrial(trial, situation))
    .filter((outcome) => {
      const { first, again, storedBefore } = outcome
      if (first.stored !== storedBefore || again.stored !== storedBefore) return true
      const sizeBefore = answers.size
      return answers.add(answerName(first.said)).size > sizeBefore
    })
}

function answerName(said: Said<{ readonly kind: string }>): string {
  if (said.kind === 'fault') return said.fault.reason
  const { kind, code } = said.result as { readonly kind: string; readonly code?: string }
  return `${kind} ${code ?? ''}`
}

export function cellText(trial: Trial, situation: Situation, sayings: readonly Saying[]): string {
  const lines = ['== ' + trialName(trial) + ' x ' + situation.name]
  for (const saying of sayings) {
    lines.push(canonicalText(saying.said))
    for (const event of saying.events) lines.push(canonicalText(event))
    lines.push(saying.stored)
  }
  return lines.join('\n')
}
