/**
 * The summary of an execution, as its holder changes it. The document is read once in a run, patched here, and stored as a whole
 * together with the frames. The store compares the version that it was computed from.
 */
import { encodeValue } from '../../client/checks/payload.ts'
import { invalidInput, show } from '../../client/checks/names.ts'
import { isObject, mergePatch } from '../../client/streams/merge-patch.ts'
import type { JsonObject } from '../../client/streams/merge-patch.ts'
import { readDocument } from '../../client/streams/stream-calls.ts'
import { SUMMARY_BYTES } from '../../kernel/index.ts'
import { EngineError } from '../../kernel/engine-error.ts'
import type { LeasedExecution } from '../lease/leased-execution.ts'
import { retryUntilAnswered } from '../store/retry-until-answered.ts'
import type { StreamServices } from './stream-services.ts'

/** Objects within objects of a patch. */
const PATCH_DEPTH_MAX = 16

/** A document to store. */
export interface NextSummary {
  readonly from: number
  readonly bytes: Uint8Array
  readonly patchCount: number
}

export class SummaryWriter {
  readonly #leased: LeasedExecution
  readonly #services: StreamServices
  readonly #schedule: () => void
  #loading: Promise<void> | undefined
  #version = 0
  /** With all patches; and as it is stored, with those that are not stored yet. */
  #document: JsonObject = {}
  #stored: JsonObject = {}
  #patches: JsonObject[] = []

  constructor(leased: LeasedExecution, services: StreamServices, schedule: () => void) {
    this.#leased = leased
    this.#services = services
    this.#schedule = schedule
  }

  get isChanged(): boolean {
    return this.#patches.length > 0
  }

  async patch(given: unknown): Promise<void> {
    const patch = asJson(given)
    await this.#load()
    this.#leased.throwIfRefused()
    const document = mergePatch(this.#document, patch) as JsonObject
    // Refuses a document that is too large before it takes the place of the last one.
    encodeValue(document, 'summary', SUMMARY_BYTES)
    this.#document = document
    this.#patches.push(patch)
    this.#schedule()
  }

  async read(): Promise<JsonObject> {
    await this.#load()
    return structuredClone(this.#document)
  }

  /** Returns what to store; undefined if nothing has changed. */
  next(): NextSummary | undefined {
    if (!this.isChanged) return undefined
    const encoded = encodeValue(this.#document, 'summary', SUMMARY_BYTES)
    if (encoded === undefined) return undefined
    return { from: this.#version, bytes: encoded.bytes, patchCount: this.#patches.length }
  }

  stored({ patchCount }: NextSummary, version: number): void {
    for (const patch of this.#patches.splice(0, patchCount))
      this.#stored = mergePatch(this.#stored, patch) as JsonObject
    this.#version = version
  }

  /** Reads the stored document again and applies the patches that are not stored yet. */
  async reload(): Promise<void> {
    this.#loading = undefined
    await this.#load()
    for (const patch of this.#patches) this.#document = mergePatch(this.#document, patch) as JsonObject
  }

  drop(): void {
    this.#patches = []
    this.#document = this.#stored
  }

  /** A failed read is tried again by the next call. */
  #load(): Promise<void> {
    this.#loading ??= this.#read().catch((error: unknown) => {
      this.#loading = undefined
      throw error
    })
    return this.#loading
  }

  async #read(): Promise<void> {
    const { id, partition } = this.#leased
    const call = () => this.#services.batcher.run(partition, 'readFrames', { executionId: id, summaryAfter: 0 })
    const { result, blobs } = await retryUntilAnswered(this.#services, this.#leased, call)
    if (result.kind === 'refused') throw new EngineError(result.code, result.detail)
    const bytes = blobs[result.summaryBlob ?? -1]
    this.#version = result.summary?.version ?? 0
    // A document whose bytes are lost begins anew.
    this.#stored = bytes === undefined ? {} : readDocument(bytes)
    this.#document = this.#stored
  }
}

/** Returns the patch as JSON has it. */
function asJson(given: unknown): JsonObject {
  if (!isObject(given)) {
    throw invalidInput('patch', `The patch of a summary is ${show(given)}, but must be an object.`)
  }
  const encoded = encodeValue(given, 'patch', SUMMARY_BYTES)
  const patch: unknown = encoded === undefined ? {} : JSON.parse(Buffer.from(encoded.bytes).toString('utf8'))
  if (!isObject(patch)) throw invalidInput('patch', 'The patch of a summary must be an object in JSON.')
  if (depthOf(patch) <= PATCH_DEPTH_MAX) return patch
  throw invalidInput('patch', `The patch of a summary has more than ${PATCH_DEPTH_MAX} objects within each other.`)
}

function depthOf(value: unknown): number {
  if (!isObject(value)) return 0
  return 1 + Math.max(0, ...Object.values(value).map(depthOf))
}
