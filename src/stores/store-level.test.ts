import { expect, test } from 'vitest'
import { LEVEL_MAX, LEVEL_MIN, refuseOtherLevel } from './store-level.ts'

test('a store of a level that the program can run is accepted, and one without a level is of the first', () => {
  for (let level = LEVEL_MIN; level <= LEVEL_MAX; level++) expect(() => refuseOtherLevel(level)).not.toThrow()
  expect(() => refuseOtherLevel(undefined)).not.toThrow()
})

test('a store of a higher level is refused with both levels', () => {
  expect(() => refuseOtherLevel(LEVEL_MAX + 1)).toThrow(
    expect.objectContaining({
      code: 'newer_schema',
      message: expect.stringContaining(
        `level ${LEVEL_MAX + 1}, this program can run a store up to level ${LEVEL_MAX}`,
      ) as string,
    }) as Error,
  )
})

test.each([0, -1, 1.5, 'two'])('%j is not a level', (level) => {
  const refuse = () => refuseOtherLevel(level)

  expect(refuse).toThrow(expect.objectContaining({ code: 'corruption' }) as Error)
})
