/**
 * Loaded ahead of the program of a process: its stores on Valkey have conflicts that nothing caused, and no reservations.
 *
 *   node --import unsteady-stores.ts <program>
 */
import { ValkeyStore } from '../../src/stores/valkey/valkey-store.ts'
import { UnsteadyBackend } from '../../src/stores/working-set/commit/unsteady-backend.fixture.ts'

/** Of so many groups of writes, one fails. */
const FAIL_EVERY = 5

const open = ValkeyStore.open.bind(ValkeyStore)

ValkeyStore.open = (options) => open({ ...options, wrapBackend: (backend) => new UnsteadyBackend(backend, FAIL_EVERY) })
