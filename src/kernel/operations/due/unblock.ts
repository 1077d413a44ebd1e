import { releaseBehind } from '../../lifecycle/limits/gates.ts'
import type { NamedDueCase } from './due-case.ts'

/** Releases executions that a limit blocks: as many as permits were announced, else one, which asks for a permit. */
export const unblock: NamedDueCase<'gate'> = {
  name: 'unblock',
  dueAt: (gate) => gate.until,
  run: (tx, gate) => {
    releaseBehind(tx, gate, gate.permits)
  },
}
