/** Loads and commits through the function library: one call each, on one partition. */
import { bringsOf, entriesOf, recordsNamedBy } from '../../kernel/index.ts'
import type { FabricEvent } from '../../kernel/index.ts'
import type { LevelGuard } from '../level/store-level.ts'
import { RefusedRecord } from '../working-set/commit/backend.ts'
import type { Backend, Commit, CommitReply, LoadReply, LoadRequest } from '../working-set/commit/backend.ts'
import { CallWriters } from './wire/call-writers.ts'
import { blobKeys, readCommit, refusedLevel, writeCommit } from './wire/commit-call.ts'
import type { CommitForm } from './wire/commit-call.ts'
import type { FunctionLoader } from './library/function-loader.ts'
import type { Keys } from './wire/keys.ts'
import { readLoad, writeLoad } from './wire/load-call.ts'
import { readEvent, readRecord, writeEvent, writeRecord } from './wire/record-bytes.ts'

export const storedForm: CommitForm = {
  writeBody: (record, writer) => {
    writeWhole(() => writeRecord(record, writer), record.id)
  },
  readBody: readRecord,
  entriesOf,
  writeEventBody: (event, writer) => {
    writeWhole(() => writeEvent(event, writer), event.executionId)
  },
  readEventBody: (bytes, start, at): FabricEvent => ({ ...readEvent(bytes, start), at }),
  namedBy: recordsNamedBy,
  bringsOf,
}

/** No limit of the kernel lets a text or a number come near to what cannot be stored. */
function writeWhole(write: () => void, recordId: string): void {
  try {
    write()
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    throw new RefusedRecord(error.message, recordId, { cause: error })
  }
}

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
    return readLoad(reply, request, storedForm, storedForm)
  }

  async commit(commit: Commit): Promise<CommitReply> {
    const { functions } = this.#loader.library
    const [reply, blobs] = await this.#writers.send(
      (writer) => writeCommit(writer, functions, this.#keys, commit, storedForm, this.#sender),
      (call) => this.#loader.sendBehindRead(call, blobKeys(this.#keys, commit)),
    )
    const level = refusedLevel(reply)
    if (level !== undefined) this.#guard.observe(level)
    return readCommit(reply, blobs)
  }
}
