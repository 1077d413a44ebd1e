import { expect, test } from 'vitest'
import { shareQuota } from './consumer-shares.ts'

test.each([
  { partitions: 8, members: 1, quotas: [8] },
  { partitions: 8, members: 4, quotas: [2, 2, 2, 2] },
  { partitions: 8, members: 3, quotas: [3, 3, 2] },
  { partitions: 2, members: 3, quotas: [1, 1, 0] },
])('$partitions partitions are read by $members members as $quotas', ({ partitions, members, quotas }) => {
  expect(quotas.map((_, order) => shareQuota(partitions, members, order))).toEqual(quotas)
})
