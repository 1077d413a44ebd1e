/** The names of what a handler has recorded: checked once, and numbered in the order in which the handler says them. */
import { checkPlainText, invalidInput, show } from '../../client/checks/names.ts'
import { NAME_BYTES } from '../../kernel/index.ts'
import type { StepKind } from '../../kernel/index.ts'

/** How a name ends that was said before. */
const NUMBER = /#\d+$/

export function checkStepName(value: unknown, field = 'name'): string {
  const name = checkPlainText(value, field, NAME_BYTES)
  if (!NUMBER.test(name)) return name
  throw invalidInput(
    field,
    `${field} is ${show(name)}, but must not end in '#' and a number: names that are said again are numbered so.`,
  )
}

/** A name with its number: the first is as it was said, then follow `#2`, `#3` and so on. Kinds are counted apart. */
export class StepNames {
  readonly #counts = new Map<string, number>()

  next(kind: StepKind | 'random', name: string): string {
    const key = `${kind}:${name}`
    const count = (this.#counts.get(key) ?? 0) + 1
    this.#counts.set(key, count)
    return count === 1 ? name : `${name}#${count}`
  }
}
