/** Loads and commits through the function library: one call each, on one partition. */
import type { LevelGuard } from '../level/store-level.ts'
import type { Backend, Commit, CommitReply, LoadReply, LoadRequest } from '../working-set/commit/backend.ts'
import { CallWriters } from './wire/call-writers.ts'
import { readCommit, refusedLevel, writeCommit } from './wire/commit-call.ts'
import type { FunctionLoader } from './library/function-loader.ts'
import type { Keys } from './layout/keys.ts'
import { readLoad, writeLoad } from './wire/load-call.ts'
import { storedForm } from './layout/stored-form.ts'

export class ValkeyBackend implements Backend {
  readonly checksClear = true
  readonly #loader: FunctionLoader
  readonly #keys: Keys
  readonly #sender: string
  readonly #guard: LevelGuard
  readonly #writers = new CallWriters()

  /** `sender` identifies this process in the messages of its commits. */
  constructor(loader: FunctionLoader, keys: Keys, sender: string, guard: LevelGuard) {
    this.#loader = loader
    this.#keys = keys
    this.#sender = sender
    this.#guard = guard
  }

  async load(request: LoadRequest): Promise<LoadReply> {
    const { functions } = this.#loader.library
    const reply = await this.#writers.send(
      (writer) => writeLoad(writer, functions, this.#keys, request, storedForm),
      (call) => this.#loader.send(call),
    )
    return readLoad(reply, request, storedForm)
  }

  async commit(commit: Commit): Promise<CommitReply> {
    const { functions } = this.#loader.library
    const [reply, blobs] = await this.#writers.send(
      (writer) => writeCommit(writer, functions, this.#keys, commit, storedForm, this.#sender),
      (call) => this.#loader.sendBehindRead(call),
    )
    const level = refusedLevel(reply)
    if (level !== undefined) this.#guard.observe(level)
    return readCommit(reply, blobs)
  }
}
