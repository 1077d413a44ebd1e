/** Which events change what a view shows. */
import type { Event as StoredEvent } from './types.ts'

export function isOfExecution(event: StoredEvent): boolean {
  return /^(execution|attempt|lease|cancel|priority|tags|signal|wait|follow|progress|step)/.test(event.type)
}

export function isOfWaitpoint(event: StoredEvent): boolean {
  return /^(waitpoint|signal|execution_(suspended|resumed|ended))/.test(event.type)
}
