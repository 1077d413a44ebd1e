/** The properties of the machine that a reader needs to compare the numbers with others. */
import { availableParallelism, loadavg } from 'node:os'
import type { Settings } from './measurement.ts'

/** Read before the load begins: the load average then is the load of other programs. */
export function machineSettings(): Settings {
  return {
    node: process.version,
    cores: availableParallelism(),
    loadAverageBefore: Math.round((loadavg()[0] ?? 0) * 100) / 100,
  }
}
