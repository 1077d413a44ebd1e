import { expect, test } from 'vitest'
import { CategorisedError, PermanentError, RetryAfterError, StepFailedError } from '../../client/define/errors.ts'
import { RETRY_DELAY_MAX_MS } from '../../kernel/index.ts'
import { failureBytes, parseStepOptions, stepFailureOf, stepRetryMs } from './step-policy.ts'

const patient = parseStepOptions({
  retry: { attempts: 3, backoff: { kind: 'exponential', initial: 100 }, jitter: false },
})
const picky = parseStepOptions({ retry: { attempts: 3, onlyCategories: ['rate'], jitter: false } })
const chancy = parseStepOptions({ retry: { attempts: 3, backoff: { kind: 'fixed', delay: 100 } } })

test.for([
  ['without a policy there is no second try', parseStepOptions(undefined), 1, new Error('no'), undefined],
  ['the first failure waits the first time', patient, 1, new Error('no'), 100],
  ['the second waits longer', patient, 2, new Error('no'), 200],
  ['the last try is the last', patient, 3, new Error('no'), undefined],
  ['a permanent failure is final', patient, 1, new PermanentError('no'), undefined],
  ['a category that is not asked for is final', picky, 1, new Error('no'), undefined],
  ['a category that is asked for is not', picky, 1, new CategorisedError('rate', 'no'), 1_000],
  ['a failure may name its delay', patient, 1, new RetryAfterError('7s'), 7_000],
  ['a delay is limited', patient, 1, new RetryAfterError('300d'), RETRY_DELAY_MAX_MS],
  ['chance takes its part', chancy, 1, new Error('no'), 25],
] as const)('%s', ([, policy, attempt, error, expected]) => {
  expect(stepRetryMs(policy, attempt, error, stepFailureOf(policy, error).category, 0.25)).toBe(expected)
})

test('the failure of an inner step that is thrown on stays what it was', () => {
  const failure = { category: 'rate', message: 'slow down', stack: 'somewhere' }

  expect(stepFailureOf(parseStepOptions(undefined), new StepFailedError('inner', failure))).toEqual(failure)
})

test('a failure takes as many bytes as its texts', () => {
  expect(failureBytes({ category: 'a', message: 'ü', stack: 'xyz' })).toBe(6)
})

test.for([[{ timeout: 0 }], [{ retry: { attempts: 0 } }], [{ retries: 3 }], [null], [[]]])(
  'the options %j of a step are refused',
  ([options]) => {
    expect(() => parseStepOptions(options as object)).toThrow(expect.objectContaining({ code: 'invalid_input' }))
  },
)
