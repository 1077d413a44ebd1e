/** Who acts for a client of the simulation, where, and who takes note of it. */
import type { Fabric } from '../../src/fabric/index.ts'
import type { Process } from './process.ts'
import type { Witness } from './witness.ts'

export interface Scene {
  readonly fabric: Fabric
  readonly process: Process
  readonly witness: Witness
}
