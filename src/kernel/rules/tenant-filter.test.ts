import { expect, test } from 'vitest'
import { matchesFilter } from './tenant-filter.ts'

const record = {
  namespace: 'eu',
  tags: [
    { name: 'city', value: 'Oslo', indexed: false },
    { name: 'plan', value: 'pro', indexed: true },
  ],
}

test.each([
  [undefined, true],
  [{}, true],
  [{ namespace: 'eu' }, true],
  [{ namespace: 'us' }, false],
  [{ tag: { name: 'plan', value: 'pro' } }, true],
  [{ tag: { name: 'plan', value: 'Oslo' } }, false],
  [{ tag: { name: 'team', value: 'pro' } }, false],
  [{ namespace: 'eu', tag: { name: 'city', value: 'Oslo' } }, true],
  [{ namespace: 'us', tag: { name: 'city', value: 'Oslo' } }, false],
])('the filter %j matches: %s', (filter, matches) => {
  expect(matchesFilter(record, filter)).toBe(matches)
})
