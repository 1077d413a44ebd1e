/** The arguments of `ctx.sleepUntil`, whose name may be left out. */
export type SleepArguments = readonly [date: Date] | readonly [name: string, date: Date]

const DEFAULT_NAME = 'sleepUntil'

/** Returns the name of the sleep and its end. */
export function sleepOf(given: SleepArguments): readonly [name: string, date: Date] {
  return given.length === 1 ? [DEFAULT_NAME, given[0]] : given
}
