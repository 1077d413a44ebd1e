/**
 * What is loaded ahead costs a remote store nothing but bytes, and what is not costs a round trip. A change of the plans, or of
 * what operations read, shows here.
 */
import { expect, test } from 'vitest'
import { operations } from '../../src/kernel/index.ts'
import type { OperationName } from '../../src/kernel/index.ts'
import { planText } from './plan-text.ts'
import { trials } from './trials/table.ts'

const ADVICE =
  'If the change is intended, run `npx vitest run --project table plans -u` and review the diff of test/table/__snapshots__.'

test.each(Object.keys(operations) as OperationName[])('%s loads ahead what it reads', (operation) => {
  expect(planText(operation, trials), ADVICE).toMatchSnapshot()
})
