/**
 * Reads the stream of one execution for all its readers in this process. Readers at the same position share a read, so that
 * thousands of them at the end of a stream cost one. A wake-up of the store, or the next sweep, invalidates what was read.
 */
import type { ExecutionId, FramesPage } from '../../kernel/index.ts'
import type { Timer } from '../../runtime/index.ts'
import { EngineError } from '../../kernel/engine-error.ts'
import { EVENT_SWEEP_MS } from '../../stores/store.ts'
import type { Wake } from '../../stores/store.ts'
import { SealedValue, unreadable } from '../../stores/opened-value.ts'
import type { Session } from '../session.ts'
import { partitionOf } from '../transport/ids.ts'
import { isFullChunk, unpackFrames } from './frame-codec.ts'
import type { UnpackedFrame } from './frame-codec.ts'

export interface DecodedChunk {
  readonly number: number
  readonly attempt: number
  readonly first: number
  readonly at: number
  readonly isFull: boolean
  /** Undefined if its bytes are lost. */
  readonly frames: readonly UnpackedFrame[] | undefined
  readonly count: number
}

export interface DecodedPage extends Omit<FramesPage, 'chunks' | 'liveBlob' | 'summaryBlob'> {
  readonly chunks: readonly DecodedChunk[]
  readonly liveFrames: readonly UnpackedFrame[]
  /** The bytes of the summary, if it is newer than the one that was asked for. */
  readonly summaryBytes: Uint8Array | undefined
}

export interface StreamPlace {
  readonly chunk?: number | undefined
  readonly liveAfter?: number | undefined
  readonly summaryAfter?: number | undefined
}

/** Reads a stream of an execution from a place on. */
export type StreamReader = (session: Session, id: ExecutionId, place: StreamPlace) => Promise<DecodedPage>

/** Pages that are kept for other readers at the same position. */
const KEPT_PAGES_MAX = 8

export class StreamSource {
  readonly id: ExecutionId
  readonly #session: Session
  readonly #reader: StreamReader
  readonly #onUnused: () => void
  readonly #stopListening: () => void
  #readerCount = 0
  /** Rises with every change that this process knows of. */
  #version = 1
  #pages = new Map<string, Promise<DecodedPage>>()
  #waiting = new Set<() => void>()
  #sweep: Timer | undefined

  constructor(session: Session, id: ExecutionId, reader: StreamReader, onUnused: () => void) {
    this.id = id
    this.#session = session
    this.#reader = reader
    this.#onUnused = onUnused
    const partition = partitionOf(id)
    this.#stopListening = session.batcher.store.onWake(
      (wake) => {
        if (wake.partition === partition && concerns(wake, id)) this.#changed()
      },
      { eventsOf: partition },
    )
  }

  get version(): number {
    return this.#version
  }

  /** Counts a reader until the returned function is called, once. */
  open(): () => void {
    this.#readerCount += 1
    return () => {
      this.#readerCount -= 1
      if (this.#readerCount === 0) this.#close()
    }
  }

  read(place: StreamPlace): Promise<DecodedPage> {
    const key = [place.chunk, place.liveAfter, place.summaryAfter].join(' ')
    const known = this.#pages.get(key)
    if (known !== undefined) return known
    if (this.#pages.size >= KEPT_PAGES_MAX) this.#pages.clear()
    const page = this.#reader(this.#session, this.id, place)
    this.#pages.set(key, page)
    // A failure is reported to the readers that share it, and not kept.
    page.catch(() => this.#pages.delete(key))
    return page
  }

  /** Resolves once something may have changed since `version`, or the signal aborts. */
  change(version: number, signal: AbortSignal): Promise<void> {
    if (version !== this.#version || signal.aborted) return Promise.resolve()
    const { runtime } = this.#session
    this.#sweep ??= runtime.after(EVENT_SWEEP_MS, () => this.#changed())
    return new Promise((resolve) => {
      const finish = () => {
        this.#waiting.delete(finish)
        signal.removeEventListener('abort', finish)
        resolve()
      }
      this.#waiting.add(finish)
      signal.addEventListener('abort', finish, { once: true })
    })
  }

  #changed(): void {
    this.#version += 1
    this.#pages = new Map()
    this.#sweep?.cancel()
    this.#sweep = undefined
    for (const wake of [...this.#waiting]) wake()
  }

  #close(): void {
    this.#stopListening()
    this.#sweep?.cancel()
    this.#onUnused()
  }
}

/** Reads the stream as it is now. */
export async function readStream(session: Session, id: ExecutionId, place: StreamPlace): Promise<DecodedPage> {
  const { result, blobs } = await session.run(id, 'readFrames', { executionId: id, ...place })
  if (result.kind === 'refused') throw new EngineError(result.code, result.detail)
  const { chunks, liveBlob, summaryBlob, ...page } = result
  const liveBytes = blobs[liveBlob ?? -1]
  return {
    ...page,
    chunks: chunks.map(({ chunk, framesBlob }) => decodeChunk(chunk, blobs[framesBlob ?? -1])),
    liveFrames: liveBytes === undefined ? [] : (tryUnpack(liveBytes, page.live?.count ?? 0, true) ?? []),
    summaryBytes: blobs[summaryBlob ?? -1],
  }
}

/** Reads the log lines as they are now: the durable frames of a stream of their own. */
export async function readLog(session: Session, id: ExecutionId, { chunk = 1 }: StreamPlace): Promise<DecodedPage> {
  const { result, blobs } = await session.run(id, 'readLogLines', { executionId: id, chunk })
  if (result.kind === 'refused') throw new EngineError(result.code, result.detail)
  const chunks = result.chunks.map((view) => decodeChunk(view.chunk, blobs[view.framesBlob ?? -1]))
  return {
    ...result,
    kind: 'frames',
    chunks,
    live: undefined,
    liveFrames: [],
    summary: undefined,
    summaryBytes: undefined,
  }
}

/** Whether an execution may have new frames or signals, or may have started or ended. */
export function concerns({ grown, growth, hasEvents }: Wake, id: ExecutionId): boolean {
  if (grown?.includes(id) === true) return true
  return hasEvents && (growth === undefined || growth.ended.includes(id))
}

function decodeChunk(chunk: FramesPage['chunks'][number]['chunk'], bytes: Uint8Array | undefined): DecodedChunk {
  const { number, attempt, first, at, count } = chunk
  const frames = bytes === undefined ? undefined : tryUnpack(bytes, count, false)
  return { number, attempt, first, at, count, frames, isFull: isFullChunk(chunk) }
}

/** Frames of a chunk that this process cannot read have no name. */
function sealedFrame(problem: EngineError): UnpackedFrame {
  return { name: SEALED_NAME, delayMs: 0, before: 0, value: new SealedValue(problem) }
}

const SEALED_NAME = 'sealed'

/** Damaged bytes are like lost ones: the reader gets a mark for the gap. */
function tryUnpack(bytes: Uint8Array, count: number, isLive: boolean): UnpackedFrame[] | undefined {
  const problem = unreadable(bytes)
  if (problem !== undefined) return Array.from({ length: count }, () => sealedFrame(problem))
  try {
    return unpackFrames(bytes, count, isLive)
  } catch (error) {
    if (error instanceof EngineError) return undefined
    throw error
  }
}
