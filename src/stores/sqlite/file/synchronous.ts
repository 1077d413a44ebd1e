/** How much acknowledged work survives when the machine, not only the process, stops without warning. */
export type Synchronous = 'normal' | 'full'

export function isSynchronous(value: unknown): value is Synchronous {
  return value === 'normal' || value === 'full'
}
