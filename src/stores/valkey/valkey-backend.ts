/** Loads and commits through the function library: one call each, on one partition. */
import { bringsOf, entriesOf, recordsNamedBy } from '../../kernel/index.ts'
import type { AnyRecord, FabricEvent } from '../../kernel/index.ts'
import { RefusedRecord } from '../working-set/backend.ts'
import type { Backend, Commit, CommitReply, LoadReply, LoadRequest } from '../working-set/backend.ts'
import { ByteWriter } from './byte-writer.ts'
import { packCommit, readCommit } from './commit-call.ts'
import type { CommitForm } from './commit-call.ts'
import type { FunctionLoader } from './function-loader.ts'
import type { Keys } from './keys.ts'
import { packLoad, readLoad } from './load-call.ts'
import { readEvent, readRecord, writeEvent, writeRecord } from './record-bytes.ts'

const writer = new ByteWriter()

export const storedForm: CommitForm = {
  writeBody: (record) => {
    writeWhole(() => writeRecord(record, writer), record.id)
    return writer.take()
  },
  readBody: (type, bytes, start): AnyRecord => {
    const record = readRecord(type, bytes, start)
    // One whose entries cannot be derived was damaged outside.
    entriesOf(record)
    return record
  },
  writeEventBody: (event) => {
    writeWhole(() => writeEvent(event, writer), event.executionId)
    return writer.take()
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
  readonly #loader: FunctionLoader
  readonly #keys: Keys
  readonly #sender: string

  /** `sender` identifies this process in the messages of its commits. */
  constructor(loader: FunctionLoader, keys: Keys, sender: string) {
    this.#loader = loader
    this.#keys = keys
    this.#sender = sender
  }

  async load(request: LoadRequest): Promise<LoadReply> {
    const { functions } = this.#loader.library
    const keys = [this.#keys.partition(request.partition), this.#keys.channels(request.partition)]
    const reply = await this.#loader.call(functions.load, keys, packLoad(this.#keys, request, storedForm))
    return readLoad(reply, request, storedForm, storedForm)
  }

  async commit(commit: Commit): Promise<CommitReply> {
    const { functions } = this.#loader.library
    const keys = [this.#keys.partition(commit.partition), this.#keys.channels(commit.partition)]
    const args = packCommit(this.#keys, commit, storedForm, this.#sender)
    const name = commit.finishesWork ? functions.commitWhenFull : functions.commit
    return readCommit(await this.#loader.call(name, keys, args), commit)
  }
}
