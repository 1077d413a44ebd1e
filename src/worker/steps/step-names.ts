/** Validates the names of steps, and numbers repeated names in the order of the calls. */
import { checkPlainText, invalidInput, show } from '../../client/checks/names.ts'
import { NAME_BYTES } from '../../kernel/index.ts'
import type { StepKind } from '../../kernel/index.ts'

/** The suffix of the step of a compensation. */
export const UNDO_SUFFIX = '#undo'

/** The suffix of a repeated name, or of a compensation. */
const ADDED = /#(\d+|undo)$/

export function checkStepName(value: unknown, field = 'name'): string {
  const name = checkPlainText(value, field, NAME_BYTES)
  if (!ADDED.test(name)) return name
  throw invalidInput(
    field,
    `${field} is ${show(name)}, but must not end in '#' and a number, or in '${UNDO_SUFFIX}': these suffixes are added to repeated names and to compensations.`,
  )
}

/** Appends `#2`, `#3` and so on to repeated names. Each kind is counted separately. */
export class StepNames {
  readonly #counts = new Map<string, number>()

  next(kind: StepKind | 'random' | 'undo', name: string): string {
    const key = `${kind}:${name}`
    const count = (this.#counts.get(key) ?? 0) + 1
    this.#counts.set(key, count)
    return count === 1 ? name : `${name}#${count}`
  }
}
