/** The piece of work that every scenario and every peer is given: as good as nothing to do, with a payload of 1 KiB. */
export interface Load {
  readonly number: number
  readonly padding: string
}

/** Bytes of a payload, written as JSON. */
export const PAYLOAD_BYTES = 1_024
export const LANE = 'bench'
export const TASK_NAME = 'bench.noop'

export function loadOf(number: number): Load {
  const bareBytes = JSON.stringify({ number, padding: '' }).length
  return { number, padding: 'x'.repeat(PAYLOAD_BYTES - bareBytes) }
}
