/** Parses the arguments of the calls that start children and wait for them. */
import { checkList, invalidInput, show } from '../../client/checks/names.ts'
import type { ChildOptions, ChildRaceOptions, SpawnOptions } from '../../client/define/children.ts'
import type { Duration } from '../../client/define/duration.ts'
import type { RetentionOptions } from '../../client/define/retention.ts'
import { nodeSettings } from '../../client/define/flow-node.ts'
import { CHILD_MAX } from '../../kernel/index.ts'
import type { Losers } from '../../kernel/index.ts'
import { boolean, oneOf, shape, unchecked } from '../../options/shape.ts'

/** Their values are checked when the child is prepared, so that errors name the child. */
const settings = {
  ...nodeSettings,
  delay: unchecked<Duration | Date>(),
  retention: unchecked<Duration | RetentionOptions>(),
}

export const callOptions = shape<ChildOptions>()("{ priority: 5, timeout: { total: '1h' } }", settings)

export const spawnOptions = shape<SpawnOptions>()("{ detached: true, retention: '7d' }", {
  ...settings,
  detached: boolean,
})

const raceOptions = shape<ChildRaceOptions>()("{ losers: 'cancel' }", {
  losers: oneOf<Losers>({ cancel: true, let_run: true }),
})

export function losersOf(options: unknown): Losers {
  return raceOptions(options ?? {}).losers ?? 'let_run'
}

export function checkChildren(children: unknown): readonly unknown[] {
  checkList(children, 'children')
  if (children.length <= CHILD_MAX) return children
  throw invalidInput('children', `children has ${children.length} entries, but at most ${CHILD_MAX} are allowed.`)
}

/** Checks how many children have to complete. */
export function checkNeed(need: unknown, total: number): number {
  if (total === 0) throw invalidInput('children', 'children is an empty list, so that none of them can complete.')
  if (Number.isInteger(need) && (need as number) >= 1 && (need as number) <= total) return need as number
  const range = `1 to ${total}, the number of children`
  throw invalidInput('need', `need is ${show(need)}, but must be a whole number from ${range}.`)
}
