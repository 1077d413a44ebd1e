/** The table's platform in Node. */
import type { Fault, Platform } from './trials/platform.ts'

class Stopped extends Error {
  readonly fault: Fault
  constructor(fault: Fault) {
    super(`${fault.reason} (${fault.recordId})`)
    this.fault = fault
  }
}

export const nodePlatform: Platform = {
  attempt: (run) => {
    try {
      return { kind: 'finished', value: run() }
    } catch (error) {
      if (error instanceof Stopped) return { kind: 'stopped', fault: error.fault }
      throw error
    }
  },
  stop: (fault) => {
    throw new Stopped(fault)
  },
  fieldNames: (value) =>
    Object.entries(value)
      .filter(([, field]) => field !== undefined)
      .map(([name]) => name),
  isList: (value) => Array.isArray(value),
}
