import { expect, test } from 'vitest'
import { LevelGuard, programLevels, refuseOtherLevel } from './store-level.ts'

test('a store of a level that the program can run is accepted, and one without a level is of the first', () => {
  for (let level = programLevels.min; level <= programLevels.max; level++)
    expect(() => refuseOtherLevel(level, programLevels)).not.toThrow()
  expect(() => refuseOtherLevel(undefined, programLevels)).not.toThrow()
})

test('a store of a higher level is refused with both levels', () => {
  expect(() => refuseOtherLevel(programLevels.max + 1, programLevels)).toThrow(
    expect.objectContaining({
      code: 'newer_schema',
      message: expect.stringContaining(
        `level ${programLevels.max + 1}, this program can run a store up to level ${programLevels.max}`,
      ) as string,
    }) as Error,
  )
})

test.each([0, -1, 1.5, 'two'])('%j is not a level', (level) => {
  const refuse = () => refuseOtherLevel(level, programLevels)

  expect(refuse).toThrow(expect.objectContaining({ code: 'corruption' }) as Error)
})

test('a store of a lower level than the program can run is refused with what to run first', () => {
  expect(() => refuseOtherLevel(1, { min: 3, max: 4 })).toThrow(
    expect.objectContaining({
      code: 'older_schema',
      message: expect.stringContaining('with a version that runs levels 1 and 2 first') as string,
    }) as Error,
  )
})

test('a process that met a level that it cannot run is refused from then on', () => {
  const guard = new LevelGuard({ min: 1, max: 1 })

  guard.observe(1)
  expect(() => guard.check()).not.toThrow()
  expect(() => guard.observe(2)).toThrow(expect.objectContaining({ code: 'newer_schema' }) as Error)
  expect(() => guard.check()).toThrow(expect.objectContaining({ code: 'newer_schema' }) as Error)
})
