/** Where a process may stop in the middle of a locked run. */

export const stoppingPoints = [
  'after load',
  'during commit',
  'before commit',
  'during load',
  'after commit',
  'before load',
] as const

export type StoppingPoint = (typeof stoppingPoints)[number]

/** What a process writes down before it stops itself. */
export interface StopEntry {
  readonly point: StoppingPoint
}

/** The lane of the process that stops, apart from that of the other work. */
export const LANE = 'stopping'
