/** Notices changes of a set of files. Folders are watched, because editors replace files instead of writing them. */
import { watch } from 'node:fs'
import type { FSWatcher } from 'node:fs'
import path from 'node:path'
import type { Runtime, Timer } from '../../runtime/index.ts'
import { fileVersion } from './supervised.ts'

/** An editor or a checkout writes several files at once, and a file in several steps. */
const SETTLE_MS = 100
/** Files beyond this number are not watched. */
const FILES_MAX = 10_000

export class WatchedFiles {
  readonly #runtime: Runtime
  readonly #onChange: (file: string) => void
  readonly #versions = new Map<string, string>()
  readonly #watchers = new Map<string, FSWatcher>()
  #settling: Timer | undefined

  /** `onChange` is called when a file differs from the version that was added, after the files have settled. */
  constructor(runtime: Runtime, onChange: (file: string) => void) {
    this.#runtime = runtime
    this.#onChange = onChange
  }

  add(file: string, version: string): void {
    if (this.#versions.size >= FILES_MAX && !this.#versions.has(file)) return
    this.#versions.set(file, version)
    this.#watch(path.dirname(file))
    // The file may have changed before it was watched.
    this.#check(file)
  }

  /** Forgets the files. Their folders stay watched until the end, because the next process has mostly the same ones. */
  clear(): void {
    this.#versions.clear()
    this.#settling?.cancel()
  }

  [Symbol.dispose](): void {
    this.clear()
    for (const watcher of this.#watchers.values()) watcher.close()
  }

  #watch(folder: string): void {
    if (this.#watchers.has(folder)) return
    try {
      const watcher = watch(folder, (_, name) => this.#look(folder, name))
      watcher.on('error', () => this.#forget(folder))
      this.#watchers.set(folder, watcher)
    } catch {
      // The folder does not exist: an import names it. The file with that import is watched.
    }
  }

  #forget(folder: string): void {
    this.#watchers.get(folder)?.close()
    this.#watchers.delete(folder)
  }

  #look(folder: string, name: string | null): void {
    if (name !== null) {
      this.#check(path.join(folder, name))
      return
    }
    for (const file of this.#versions.keys()) if (path.dirname(file) === folder) this.#check(file)
  }

  #check(file: string): void {
    const version = this.#versions.get(file)
    if (version === undefined || version === fileVersion(file)) return
    this.#settling?.cancel()
    this.#settling = this.#runtime.after(SETTLE_MS, () => this.#onChange(file))
  }
}
