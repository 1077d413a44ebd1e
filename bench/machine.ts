/** What somebody needs to know of the machine to compare the numbers with others. */
import { availableParallelism, loadavg } from 'node:os'
import type { Settings } from './measurement.ts'

/** To be asked for before the load begins: what the load average says then is what others do on the machine. */
export function machineSettings(): Settings {
  return {
    node: process.version,
    cores: availableParallelism(),
    loadAverageBefore: Math.round((loadavg()[0] ?? 0) * 100) / 100,
  }
}
