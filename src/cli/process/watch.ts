/** Shows something again and again until the command is interrupted: the live tables of commands with `--watch`. */
import { sleep } from '../../runtime/index.ts'
import type { Runtime } from '../../runtime/index.ts'
import type { ExitCode } from './exit-codes.ts'
import { Interruption } from './interruption.ts'

const EVERY_MS = 1_000

/** Calls `show` once, or every second with `isWatching`. Returns the exit code of an interruption. */
export async function watch(
  runtime: Runtime,
  isWatching: boolean,
  show: () => Promise<void>,
): Promise<ExitCode | undefined> {
  using interruption = new Interruption()
  do {
    await show()
    if (isWatching) await sleep(runtime, EVERY_MS, interruption.signal)
  } while (isWatching && !interruption.signal.aborted)
  return interruption.exitCode
}
