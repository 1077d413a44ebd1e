/** Messages between the process that watches the files of `dev` and the process that runs their handlers. */
import { statSync } from 'node:fs'

/** Set in the environment of the process that runs the handlers. */
export const SUPERVISED_VARIABLE = 'FLOWFABRIC_DEV_SUPERVISED'

export type Report =
  | { readonly kind: 'file'; readonly file: string; readonly version: string }
  /** The module cannot be loaded as it is. The process ends. */
  | { readonly kind: 'refused' }

/** Changes when the file is written, created or removed. */
export function fileVersion(file: string): string {
  const stats = statSync(file, { throwIfNoEntry: false })
  return stats === undefined ? 'absent' : `${stats.mtimeMs}:${stats.size}:${stats.ino}`
}

/** The side of the process that runs the handlers. Does nothing without a supervisor. */
export class Supervised {
  readonly isSupervised: boolean
  #hasFiles = false

  constructor() {
    this.isSupervised = process.env[SUPERVISED_VARIABLE] !== undefined && process.send !== undefined
    if (!this.isSupervised) return
    // Commands that a handler starts have no supervisor.
    Reflect.deleteProperty(process.env, SUPERVISED_VARIABLE)
    process.on('disconnect', () => process.kill(process.pid, 'SIGTERM'))
    process.channel?.unref()
  }

  /** Reports a file before it is read, so that no change is missed. */
  file(file: string): void {
    this.#hasFiles = true
    void this.#send({ kind: 'file', file, version: fileVersion(file) })
  }

  /** Reports that the module cannot be loaded. A change can help only if a file was found. */
  async refused(): Promise<void> {
    if (this.#hasFiles) await this.#send({ kind: 'refused' })
  }

  async #send(report: Report): Promise<void> {
    if (!this.isSupervised || !process.connected) return
    // An error means that the supervisor has ended. The disconnect event follows.
    await new Promise<void>((resolve) => process.send?.(report, undefined, undefined, () => resolve()))
  }
}
