/**
 * The table of operations and phases, one test for each trial. Only for runs with mutants: the situations, and what is expected, come
 * from the first run of each test, which is without one. A row contains what the golden files of the table test describe, and what
 * that test expects of every cell.
 */
import { expect, test } from 'vitest'
import type { RefusalDetail } from '../../src/kernel/index.ts'
import { answersText, effectText } from '../table/golden-line.ts'
import { copyMemory, storedText } from '../table/trials/memory.ts'
import { runTrialIn, situationsOf, trialName, trials } from '../table/trials/table.ts'
import type { Outcome } from '../table/trials/table.ts'
import type { Situation } from '../table/trials/situations.ts'
import type { Trial } from '../table/trials/trial.ts'
import type { World } from '../table/trials/world.ts'

interface Start {
  readonly situation: Situation
  readonly world: World
  readonly stored: string
}

const worlds = new Map<Situation, World>()
const starts = new Map<Trial, readonly Start[]>()
const usual = new Map<Trial, string>()

test.each(trials.map((trial) => ({ name: trialName(trial), trial })))('$name', ({ trial }) => {
  const text = rowText(trial)
  if (!usual.has(trial)) usual.set(trial, text)

  expect(text === usual.get(trial)).toBe(true)
})

function rowText(trial: Trial): string {
  return startsOf(trial)
    .map(({ world, stored, situation }) => runTrialIn(copyOf(world), stored, trial, situation))
    .map((outcome) =>
      [answersText(outcome), effectText(outcome), writtenText(outcome), refusalText(outcome)].join(' → '),
    )
    .join('\n')
}

/** A refusal and a repetition write nothing. */
function writtenText({ storedBefore, first, again }: Outcome): string {
  return [first.stored === storedBefore, again.stored === first.stored, again.events.length].join(' ')
}

/** A refusal carries the state of the execution. */
function refusalText({ again: { said } }: Outcome): string {
  if (said.kind === 'fault' || said.result.kind !== 'refused') return ''
  const { detail } = said.result as unknown as { readonly detail: RefusalDetail }
  return [detail.executionId, detail.flowId, detail.phase, detail.state, detail.epoch, detail.attempt].join(' ')
}

/** The worlds in which a trial is made. Mutants do not change them, so that a trial only tries those of its own operation. */
function startsOf(trial: Trial): readonly Start[] {
  const known = starts.get(trial)
  if (known !== undefined) return known
  const made = situationsOf(trial).map((situation) => {
    const world = copyOf(worldOf(situation))
    trial.prepare?.(world)
    return { situation, world, stored: storedText(world.memory) }
  })
  starts.set(trial, made)
  return made
}

function worldOf(situation: Situation): World {
  const world = worlds.get(situation) ?? situation.build()
  worlds.set(situation, world)
  return world
}

function copyOf({ memory, steps, now }: World): World {
  return { memory: copyMemory(memory), steps: [...steps], now }
}
