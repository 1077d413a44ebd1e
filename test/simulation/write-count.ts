/**
 * Counts what the kernel writes, as the overlay hands it to the store: nothing in a store changes without it. To compare a
 * whole partition after each of the many calls that do nothing would take most of a run's time.
 */
import { Overlay } from '../../src/stores/working-set/overlay/overlay.ts'

let count = 0

const writes = Object.getOwnPropertyDescriptor(Overlay.prototype, 'writes')?.value as Overlay['writes']

Overlay.prototype.writes = function (this: Overlay) {
  const written = writes.call(this)
  for (const list of Object.values(written) as readonly (readonly unknown[])[]) count += list.length
  return written
}

/** Records, index entries, blobs and events written since the process began. */
export function writeCount(): number {
  return count
}
