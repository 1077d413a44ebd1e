import { expect, test } from 'vitest'
import { Followed } from './followed.ts'
import type { Following } from './followed.ts'

test('a subscriber that comes after the end sees it, also if the last one left at that moment', async () => {
  const { promise: isOver, resolve: end } = Promise.withResolvers<undefined>()
  const beginning: Following = { status: 'connecting', error: undefined }
  const followed = new Followed(beginning, () => isOver)
  const leave = followed.subscribe(() => undefined)
  end(undefined)
  // The end is known, and not shown yet.
  for (let i = 0; i < 5; i++) await Promise.resolve()
  leave()
  followed.subscribe(() => undefined)

  expect(followed.view()).toMatchObject({ status: 'ended' })
})
