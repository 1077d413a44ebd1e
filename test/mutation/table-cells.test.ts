/**
 * The table of operations and phases, one test for each trial. Only for runs with mutants: what is expected comes from the first run of
 * each test, which is without one, and which the golden files of the table test describe.
 */
import { expect, test } from 'vitest'
import { answersText, effectText } from '../table/golden-line.ts'
import { runTrial, situationsOf, trialName, trials } from '../table/trials/table.ts'
import type { Trial } from '../table/trials/trial.ts'

const usual = new Map<Trial, string>()

test.each(trials.map((trial) => ({ name: trialName(trial), trial })))('$name', ({ trial }) => {
  const text = rowText(trial)
  if (!usual.has(trial)) usual.set(trial, text)

  expect(text === usual.get(trial)).toBe(true)
})

function rowText(trial: Trial): string {
  return situationsOf(trial)
    .map((situation) => runTrial(trial, situation))
    .map((outcome) => `${outcome.situation.name}: ${answersText(outcome)} → ${effectText(outcome) ?? ''}`)
    .join('\n')
}
