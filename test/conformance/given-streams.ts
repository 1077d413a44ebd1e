/** Appends frames as a worker does, but without their packing: every character of a text is one frame. */
import { FRAME_CHUNK_BYTES, FRAME_CHUNK_COUNT } from '../../src/kernel/index.ts'
import type { AppendFramesInput, AppendFramesResult, ExecutionId, FramesPage } from '../../src/kernel/index.ts'
import type { TestFabric } from './fabric.ts'
import type { Held } from './given.ts'

export class Writer {
  readonly #fabric: TestFabric
  readonly held: Held
  append = 0
  chunk: number | undefined
  text = ''
  live = ''

  constructor(fabric: TestFabric, held: Held) {
    this.#fabric = fabric
    this.held = held
  }

  /** The call that appends a text, without making it. */
  input(added: string, more: Partial<AppendFramesInput> = {}): [AppendFramesInput, Uint8Array[]] {
    const isExtended = this.chunk !== undefined && this.text.length < Math.min(FRAME_CHUNK_COUNT, FRAME_CHUNK_BYTES)
    const text = (isExtended ? this.text : '') + added
    const frames = { blob: 0, size: text.length, encoding: 'bytes' } as const
    const chunk = {
      extend: isExtended ? this.chunk : undefined,
      count: text.length,
      newCount: added.length,
      frames,
    }
    return [
      { ...this.held, append: this.append + 1, chunk: added === '' ? undefined : chunk, ...more },
      [Buffer.from(text)],
    ]
  }

  async write(added: string): Promise<AppendFramesResult> {
    const [input, blobs] = this.input(added)
    const result = await this.#fabric.run('appendFrames', input, blobs)
    if (result.kind !== 'appended') return result
    this.append += 1
    this.text = (input.chunk?.extend === undefined ? '' : this.text) + added
    this.chunk = result.chunk
    return result
  }

  /** `kept` are the newest live frames, the last `newCount` of them new. */
  async writeLive(kept: string, newCount: number): Promise<AppendFramesResult> {
    const frames = { blob: 0, size: kept.length, encoding: 'bytes' } as const
    const live = { count: kept.length, newCount, frames }
    const input = { ...this.held, append: this.append + 1, live }
    const result = await this.#fabric.run('appendFrames', input, [Buffer.from(kept)])
    if (result.kind === 'appended') this.append += 1
    return result
  }

  async summarise(from: number, document: unknown): Promise<AppendFramesResult> {
    const bytes = Buffer.from(JSON.stringify(document))
    const summary = { from, document: { blob: 0, size: bytes.byteLength, encoding: 'json' } } as const
    const result = await this.#fabric.run('appendFrames', { ...this.held, append: this.append + 1, summary }, [bytes])
    if (result.kind === 'appended') this.append += 1
    return result
  }
}

export interface Read {
  readonly page: FramesPage
  readonly text: string
  readonly live: string | undefined
  readonly summary: unknown
}

/** Reads one page. */
export async function readPage(fabric: TestFabric, executionId: ExecutionId, chunk = 1): Promise<Read> {
  const { result, blobs } = await fabric.reply('readFrames', { executionId, chunk, liveAfter: 0, summaryAfter: 0 })
  if (result.kind === 'refused') throw new Error(`the stream of ${executionId} is refused with ${result.code}`)
  const textAt = (blob: number | undefined) => (blob === undefined ? undefined : Buffer.from(blobs[blob]!).toString())
  const summary = textAt(result.summaryBlob)
  return {
    page: result,
    text: result.chunks.map(({ framesBlob }) => textAt(framesBlob) ?? '?').join(''),
    live: textAt(result.liveBlob),
    summary: summary === undefined ? undefined : JSON.parse(summary),
  }
}

/** Reads all frames that are kept, page by page. */
export async function readAll(fabric: TestFabric, executionId: ExecutionId): Promise<string> {
  let text = ''
  for (let chunk = 1; ;) {
    const read = await readPage(fabric, executionId, chunk)
    text += read.text
    if (!read.page.hasMore) return text
    chunk = read.page.nextChunk
  }
}
