/** The calls of a client that read streams. Readers of one execution share a source. */
import type { ExecutionId, Instant } from '../../kernel/index.ts'
import { EngineError } from '../../kernel/engine-error.ts'
import { boolean, oneOf, shape } from '../../options/shape.ts'
import { checkSignal, invalidInput, show } from '../checks/names.ts'
import type { FrameSchemas } from '../define/frames.ts'
import type { Session } from '../session.ts'
import { readFrames } from './read-frames.ts'
import type { FrameItem, FramesOptions } from './read-frames.ts'
import { unreadable } from '../../stores/opened-value.ts'
import { isObject } from './merge-patch.ts'
import type { JsonObject } from './merge-patch.ts'
import { logLevels } from './log-line.ts'
import { readLogs } from './read-logs.ts'
import type { LogItem, LogsOptions } from './read-logs.ts'
import { StreamSource, readLog, readStream } from './stream-source.ts'
import type { DecodedPage, StreamReader } from './stream-source.ts'

/** A version of the summary of an execution. */
export interface Summary {
  readonly document: JsonObject
  /** Rises by one with every change. A follower sees the latest one, and not each. */
  readonly version: number
  /** The attempt that wrote it, and when. */
  readonly attempt: number
  readonly at: Instant
}

export interface SummaryOptions {
  readonly signal?: AbortSignal
}

export const summaryOptions = shape<SummaryOptions>()('{ signal: AbortSignal.timeout(5_000) }', { signal: checkSignal })

export const framesOptions = shape<FramesOptions>()("{ from: frame.cursor, name: 'token' }", {
  from: checkCursor,
  name: checkName,
  follow: boolean,
  signal: checkSignal,
})

export const logsOptions = shape<LogsOptions>()("{ level: 'warn', follow: false }", {
  from: checkCursor,
  level: oneOf(logLevels),
  follow: boolean,
  signal: checkSignal,
})

function checkCursor(from: unknown, field: string): string {
  if (typeof from === 'string') return from
  throw invalidInput(field, `${field} is ${show(from)}, but must be a cursor.`)
}

function checkName(name: unknown, field: string): string {
  if (typeof name === 'string') return name
  throw invalidInput(field, `${field} is ${show(name)}, but must be the name of a frame.`)
}

export class Streams {
  readonly #session: Session
  /** Aborts when the client is closed. */
  readonly #closed: AbortSignal
  readonly #sources = new Map<ExecutionId, StreamSource>()
  readonly #logs = new Map<ExecutionId, StreamSource>()

  constructor(session: Session, closed: AbortSignal) {
    this.#session = session
    this.#closed = closed
  }

  frames(
    id: ExecutionId,
    schemas: FrameSchemas,
    { from, name, follow = true, signal }: FramesOptions,
  ): AsyncGenerator<FrameItem, void, undefined> {
    const reading = {
      sourceOf: () => this.#sourceOf(id),
      schemas,
      name,
      isFollowing: follow,
      signal: this.#until(signal),
    }
    return readFrames(reading, from)
  }

  logs(
    id: ExecutionId,
    { from, level = 'debug', follow = true, signal }: LogsOptions,
  ): AsyncGenerator<LogItem, void, undefined> {
    const reading = {
      sourceOf: () => this.#shared(this.#logs, readLog, id),
      schemas: {},
      name: undefined,
      isFollowing: follow,
      signal: this.#until(signal),
    }
    return readLogs(readFrames(reading, from), level)
  }

  async summary(id: ExecutionId): Promise<Summary | undefined> {
    return summaryIn(await readStream(this.#session, id, { summaryAfter: 0 }))
  }

  /** Yields the summary and its changes, the latest ones only, until the execution ends. */
  async *summaries(id: ExecutionId, options: SummaryOptions): AsyncGenerator<Summary, void, undefined> {
    const source = this.#sourceOf(id)
    const signal = this.#until(options.signal)
    const close = source.open()
    try {
      let life: string | undefined
      let seen = 0
      while (!signal.aborted) {
        const { version } = source
        const page = await source.read({ summaryAfter: seen })
        const found = `${page.createdAt} ${page.life}`
        if (life !== undefined && life !== found) return
        life = found
        const summary = summaryIn(page)
        if (summary !== undefined) {
          seen = summary.version
          yield summary
        }
        if (page.isEnded) return
        await source.change(version, signal)
      }
    } finally {
      close()
    }
  }

  #sourceOf(id: ExecutionId): StreamSource {
    return this.#shared(this.#sources, readStream, id)
  }

  #shared(sources: Map<ExecutionId, StreamSource>, reader: StreamReader, id: ExecutionId): StreamSource {
    let source = sources.get(id)
    if (source === undefined) {
      source = new StreamSource(this.#session, id, reader, () => sources.delete(id))
      sources.set(id, source)
    }
    return source
  }

  #until(signal: AbortSignal | undefined): AbortSignal {
    return signal === undefined ? this.#closed : AbortSignal.any([this.#closed, signal])
  }
}

function summaryIn({ summary, summaryBytes }: DecodedPage): Summary | undefined {
  if (summary === undefined || summaryBytes === undefined) return undefined
  const document = shownDocument(summaryBytes)
  return { document, version: summary.version, attempt: summary.attempt, at: summary.at }
}

/** Returns a marked document for a summary that this process cannot read. */
function shownDocument(bytes: Uint8Array): JsonObject {
  const problem = unreadable(bytes)
  return problem === undefined ? readDocument(bytes) : { sealed: problem.code }
}

/** Throws `corruption` if the bytes are no JSON object. */
export function readDocument(bytes: Uint8Array): JsonObject {
  const problem = unreadable(bytes)
  if (problem !== undefined) throw problem
  let document: unknown
  try {
    document = JSON.parse(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8'))
  } catch {
    document = undefined
  }
  if (isObject(document)) return document
  throw new EngineError('corruption', { message: 'The stored summary is not a JSON object.' })
}
