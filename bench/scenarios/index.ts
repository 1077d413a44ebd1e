/** Every scenario by its name. A new one is a file and a line here; it is loaded only when somebody asks for it. */
import type { Scenario } from '../scenario.ts'

export const scenarios: Readonly<Record<string, () => Promise<Scenario>>> = {
  lifecycle: async () => (await import('./lifecycle.ts')).lifecycle,
}
