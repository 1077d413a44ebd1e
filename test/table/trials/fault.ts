/** Faults of the kernel in the table's own store. */

/** An operation met an impossible state. */
export interface Fault {
  readonly reason: string
  readonly recordId: string
}

class Stopped extends Error {
  readonly fault: Fault
  constructor(fault: Fault) {
    super(`${fault.reason} (${fault.recordId})`)
    this.fault = fault
  }
}

export function stop(fault: Fault): never {
  throw new Stopped(fault)
}

/** The fault that `stop` was called with. Throws any other error again. */
export function faultIn(error: unknown): Fault {
  if (error instanceof Stopped) return error.fault
  throw error
}
