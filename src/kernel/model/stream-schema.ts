/**
 * The streams of executions, as they are stored: frames in chunks, live frames, and the summary. The bytes of all three are
 * beside the records. New fields go to the end.
 */
import { executionId } from './base-records.ts'
import { frozenObject, rare, record, text, whole } from './field-kinds.ts'
import type { Infer, InferRecord } from './field-kinds.ts'

/** The holder that appended last. */
const streamWriter = frozenObject({
  epoch: whole,
  /** The number of its last append. An append with this number is a repetition. */
  append: whole,
  /** The chunk that it may still extend. */
  chunk: rare(whole),
  /** The sequence of the next durable frame when its lease began to append. */
  base: whole,
})

const liveTail = frozenObject({
  attempt: whole,
  /** Live frames have numbers of their own, from 1. */
  first: whole,
  count: whole,
  size: whole,
  at: whole,
  /** The base of its writer. Each of the frames is so many durable frames behind it. */
  base: whole,
})

/** The newest live frames: earlier ones are not kept. */
export type LiveTail = Infer<typeof liveTail>

const summary = frozenObject({
  /** Rises by one with every change of the document. */
  version: whole,
  size: whole,
  attempt: whole,
  at: whole,
})

/** The summary of an execution: one JSON document that its handler changes. */
export type StreamSummary = Infer<typeof summary>

export const stream = record('stream', {
  /** The scope of the execution's life. */
  id: text,
  executionId,
  /** The sequence of the next durable frame. The first one has 1. */
  next: whole,
  /** The sequence of the oldest durable frame that is kept. */
  first: whole,
  /** The number of the next chunk, from 1, and of the oldest one that is kept. The chunks between them have no gap. */
  nextChunk: whole,
  firstChunk: whole,
  /** Bytes of all chunks that are kept. */
  size: whole,
  /** The number of the next live frame. */
  nextLive: whole,
  writer: streamWriter,
  live: rare(liveTail),
  summary: rare(summary),
})

/** What one life of an execution has streamed. Made by its first frame or summary. */
export interface Stream extends InferRecord<typeof stream> {}

export const frameChunk = record('frame_chunk', {
  /** The scope of the execution's life, and the number. */
  id: text,
  executionId,
  number: whole,
  attempt: whole,
  /** The sequence of its first frame. The others follow it without a gap. */
  first: whole,
  count: whole,
  size: whole,
  /** When it was begun. Its frames have distances to this time. */
  at: whole,
})

/** Some durable frames of one attempt, which follow each other. */
export interface FrameChunk extends InferRecord<typeof frameChunk> {}
