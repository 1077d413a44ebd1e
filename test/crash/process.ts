/** What every process of a crash test has in common: it reports when it is ready, and ends on request or with its parent. */
import { flushCompileCache } from 'node:module'
import { createInterface } from 'node:readline'
import type { Log } from '../../src/runtime/index.ts'

const lines = createInterface(process.stdin)[Symbol.asyncIterator]()

// Node writes its compile cache when a process exits, and most of these are killed. All static imports are compiled here.
flushCompileCache()

export function sayReady(): void {
  flushCompileCache()
  process.stdout.write('ready\n')
}

/** Waits for the parent's next word. A parent that is gone has spoken its last. */
export async function untilTold(): Promise<void> {
  await lines.next()
}

/**
 * Resolves when the process is asked to end. A parent that dies asks by closing the input. It is to be called before the
 * process reports that it is ready: from then on it may be asked at any moment.
 */
export async function untilStopped(): Promise<void> {
  await new Promise<void>((resolve) => {
    process.once('SIGTERM', () => resolve())
    void untilTold().then(resolve)
  })
  // Nothing more is expected, and an open input would keep the process alive.
  process.stdin.destroy()
}

/** An error is a complaint, which no test here accepts. A warning reports a lost lease, and leases are lost here. */
export const complainingLog: Log = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: (fields, message) => console.error(message, fields),
}
