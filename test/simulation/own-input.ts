import type { Work } from './kind.ts'
import type { Witness } from './witness.ts'

/** An input that no other submit has, so that its run differs from all others. */
export function ownInput(work: Work, witness: Witness): Work {
  witness.inputCount += 1
  return { ...work, name: `${work.name}/${witness.inputCount}` }
}
