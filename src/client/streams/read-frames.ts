/** Yields the frames of one execution: those that are kept, then new ones as they are appended, until the execution ends. */
import type { Instant } from '../../kernel/index.ts'
import type { StandardSchemaV1 } from '@standard-schema/spec'
import type { FrameSchemas } from '../define/frames.ts'
import { validate } from '../define/validation.ts'
import { decodeFrameCursor, encodeFrameCursor } from './frame-cursor.ts'
import type { FramePosition } from './frame-cursor.ts'
import type { UnpackedFrame } from './frame-codec.ts'
import type { DecodedPage, StreamSource } from './stream-source.ts'

export interface FramesOptions<Name extends string = string> {
  /** The cursor of the last item that was seen. Left out: the oldest frame that is kept. */
  readonly from?: string
  /** Only frames of this name. */
  readonly name?: Name
  /** False ends the reader once it has all frames that there are. Default: true. */
  readonly follow?: boolean
  readonly signal?: AbortSignal
}

interface FrameOf<Name extends string, Value> {
  readonly kind: 'frame'
  readonly name: Name
  readonly value: Value
  readonly attempt: number
  /**
   * The number of a durable frame among those of the execution, from 1 and without a gap. A live frame has that of the durable
   * frame before it.
   */
  readonly sequence: number
  readonly isLive: boolean
  /** When it was written, by the store's clock as far as the writer knew it. */
  readonly at: Instant
  /** Continues behind this frame. */
  readonly cursor: string
}

/** Marks what happened between two frames. */
export type FrameMark =
  /** A new attempt has begun. The frames of earlier ones stay: what recorded steps have written is not written again. */
  | { readonly kind: 'attempt'; readonly attempt: number; readonly cursor: string }
  /**
   * So many durable frames are not kept any more. Undefined: the cursor is of an earlier run of the execution, whose frames were
   * removed with it.
   */
  | { readonly kind: 'trimmed'; readonly count: number | undefined; readonly cursor: string }

/** What a reader of frames receives. */
export type FrameItem<Frames extends FrameSchemas = FrameSchemas, Name extends string = string> =
  | FrameMark
  | {
      [N in keyof Frames & Name]: FrameOf<N, StandardSchemaV1.InferOutput<Frames[N]>>
    }[keyof Frames & Name]

type StoredFrame = FrameOf<string, unknown>

interface Reading {
  /** Returns the source of its execution. Called when the reader starts. */
  readonly sourceOf: () => StreamSource
  readonly schemas: FrameSchemas
  readonly name: string | undefined
  readonly isFollowing: boolean
  readonly signal: AbortSignal
}

type Position = { -readonly [K in keyof FramePosition]: FramePosition[K] }

/** Ends with the execution, and when the signal aborts. */
export async function* readFrames(
  reading: Reading,
  from: string | undefined,
): AsyncGenerator<FrameItem, void, undefined> {
  const { signal, isFollowing } = reading
  const start = from === undefined ? undefined : decodeFrameCursor(from)
  const source = reading.sourceOf()
  const close = source.open()
  try {
    let position: Position | undefined
    while (!signal.aborted) {
      const { version } = source
      const page = await source.read({
        chunk: (position ?? start)?.chunk ?? 1,
        liveAfter: (position ?? start)?.live ?? 0,
      })
      if (position === undefined) {
        position = beginAt(page, start)
        if (start !== undefined && !isOfLife(start, page)) {
          yield { kind: 'trimmed', count: undefined, cursor: encodeFrameCursor(position) }
          if (position.chunk !== start.chunk) continue
        }
      } else if (!isOfLife(position, page)) return
      for (const item of itemsOf(page, position)) {
        if (item.kind !== 'frame') yield item
        else if (reading.name === undefined || reading.name === item.name) yield await parsed(reading, item)
      }
      if (page.hasMore) continue
      if (page.isEnded || !isFollowing) return
      await source.change(version, signal)
    }
  } finally {
    close()
  }
}

function beginAt({ createdAt, life }: DecodedPage, start: FramePosition | undefined): Position {
  if (start?.createdAt === createdAt && start.life === life) return { ...start }
  return { createdAt, life, chunk: 1, sequence: 0, live: 0, attempt: 0 }
}

function isOfLife(position: FramePosition, { createdAt, life }: DecodedPage): boolean {
  return position.createdAt === createdAt && position.life === life
}

/** Returns what a page adds, and moves the position behind it. Values are as they are stored. */
function itemsOf(page: DecodedPage, position: Position): FrameItem[] {
  const items: FrameItem[] = []
  const live = page.hasMore ? [] : newLiveFrames(page, position)
  for (const chunk of page.chunks) {
    position.chunk = chunk.number
    const { frames, attempt, first, at } = chunk
    if (frames === undefined) continue
    addGap(items, first, position)
    addAttempt(items, attempt, position)
    for (let i = Math.max(0, position.sequence + 1 - first); i < frames.length; i++) {
      while (live[0] !== undefined && live[0].sequence < first + i) addLive(items, live.shift(), position)
      const frame = frames[i]
      if (frame === undefined) continue
      position.sequence = first + i
      addFrame(items, frame, position, { attempt, isLive: false, at: at + frame.delayMs })
    }
  }
  const last = page.chunks.at(-1)
  if (last === undefined || last.isFull || last.number < page.nextChunk - 1) position.chunk = page.nextChunk
  if (page.hasMore) return items
  // Chunks that are missing at the end were lost.
  addGap(items, page.next, position)
  while (live.length > 0) addLive(items, live.shift(), position)
  addAttempt(items, page.attempt, position)
  return items
}

function addGap(items: FrameItem[], sequence: number, position: Position): void {
  const count = sequence - 1 - position.sequence
  if (count <= 0) return
  position.sequence = sequence - 1
  items.push({ kind: 'trimmed', count, cursor: encodeFrameCursor(position) })
}

function addAttempt(items: FrameItem[], attempt: number, position: Position): void {
  if (attempt <= position.attempt) return
  position.attempt = attempt
  items.push({ kind: 'attempt', attempt, cursor: encodeFrameCursor(position) })
}

interface LiveFrame {
  readonly unpacked: UnpackedFrame
  readonly number: number
  readonly attempt: number
  readonly sequence: number
  readonly at: Instant
}

function newLiveFrames({ live, liveFrames }: DecodedPage, { live: passed }: Position): LiveFrame[] {
  if (live === undefined) return []
  const { attempt, first, base, at } = live
  const found: LiveFrame[] = []
  for (const [i, unpacked] of liveFrames.entries()) {
    const sequence = base - 1 + (unpacked.before ?? 0)
    if (first + i > passed) found.push({ unpacked, number: first + i, attempt, sequence, at })
  }
  return found
}

function addLive(items: FrameItem[], live: LiveFrame | undefined, position: Position): void {
  if (live === undefined) return
  const { unpacked, number, attempt, at } = live
  addAttempt(items, attempt, position)
  position.live = number
  addFrame(items, unpacked, position, { attempt, isLive: true, at })
}

function addFrame(
  items: FrameItem[],
  { name, value }: UnpackedFrame,
  position: Position,
  { attempt, isLive, at }: Pick<StoredFrame, 'attempt' | 'isLive' | 'at'>,
): void {
  const { sequence } = position
  items.push({ kind: 'frame', name, value, attempt, sequence, isLive, at, cursor: encodeFrameCursor(position) })
}

/** Readers share decoded values, so each gets what its schema makes of them. */
async function parsed({ schemas }: Reading, item: StoredFrame): Promise<FrameItem> {
  const schema = schemas[item.name]
  if (schema === undefined) return item
  return { ...item, value: await validate(schema, item.value, 'invalid_output', `frame '${item.name}'`) }
}
