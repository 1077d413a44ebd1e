/** Numbers repeated names of steps in the order of the calls. */
import type { StepKind } from '../../kernel/index.ts'

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
