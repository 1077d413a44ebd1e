/** Frames and summaries as a handler writes them: what a task declares, and the calls that follow from it. */
import type { StandardSchemaV1 } from '@standard-schema/spec'
import { invalidInput, show } from '../checks/names.ts'
import { FRAME_NAME_BYTES } from '../../kernel/limits.ts'

/** One schema for each signal that the handler waits for by its name. */
export type SignalSchemas = Readonly<Record<string, StandardSchemaV1>>

/** One schema for each kind of frame that the handler writes, by name. */
export type FrameSchemas = Readonly<Record<string, StandardSchemaV1>>

export interface FrameOptions {
  /**
   * Best effort: the frame is published and kept only among the newest live frames, so a slow reader may miss it. It never
   * takes the place of a durable frame.
   */
  readonly live?: boolean
}

/**
 * Writes a frame. Resolves once there is room for it: frames are collected and appended together. The result of a step, a wait
 * and the end of the handler are stored only after all frames before them.
 */
export type FrameEmitter<Value> = (value: Value, options?: FrameOptions) => Promise<void>

interface FramePipe<Frames extends FrameSchemas> {
  /** Writes each value of an iterable as a frame, as fast as the store takes them. Resolves with their number. */
  readonly pipe: <Name extends keyof Frames & string>(
    name: Name,
    values:
      AsyncIterable<StandardSchemaV1.InferInput<Frames[Name]>> | Iterable<StandardSchemaV1.InferInput<Frames[Name]>>,
    options?: FrameOptions,
  ) => Promise<number>
}

/** One function for each frame that the task declares, and `pipe`. */
export type FrameCalls<Frames extends FrameSchemas> = FramePipe<Frames> & {
  readonly [Name in keyof Frames as string extends Name ? never : Name]: FrameEmitter<
    StandardSchemaV1.InferInput<Frames[Name]>
  >
}

/** The summary of an execution: one JSON document that readers follow. It outlives retries and replays. */
export interface SummaryCalls {
  /**
   * Changes the document by a JSON merge patch (RFC 7396): null removes a field, an object is merged, anything else replaces.
   * Patches are merged at once and stored together with the frames. Resolves once the document is merged.
   *
   * @example
   * await ctx.summary.patch({ stage: 'writing', found: { papers: 12 } })
   */
  readonly patch: (patch: Readonly<Record<string, unknown>>) => Promise<void>
  /** Returns the document with all patches so far; an empty object before the first. */
  readonly read: () => Promise<Readonly<Record<string, unknown>>>
}

/** A message in an inbox: a signal that was sent to the execution by its name. */
export interface InboxMessage<Value = unknown> {
  readonly name: string
  readonly value: Value
  /** Signals of an execution are numbered. The same in every attempt: use it in the names of steps. */
  readonly sequence: number
  /** The key of the sender. */
  readonly key: string
  /** Who sent it. */
  readonly by: string
  readonly at: number
  /** Takes the message now. Otherwise it is taken when the next one is asked for. */
  readonly done: () => Promise<void>
}

const NAME = /^[A-Za-z_][A-Za-z0-9_.-]*$/
/** Names that the calls of a handler have already, or that would make them a promise. */
const TAKEN_NAMES: readonly string[] = ['pipe', 'then']

export function checkFrameName(name: unknown, field: string): string {
  if (typeof name === 'string' && NAME.test(name) && name.length <= FRAME_NAME_BYTES && !TAKEN_NAMES.includes(name)) {
    return name
  }
  throw invalidInput(
    field,
    `${field} has the frame ${show(name)}, but a frame's name is made of up to ${FRAME_NAME_BYTES} letters, digits, _, - and . ` +
      `and begins with a letter; ${TAKEN_NAMES.map(show).join(' and ')} are taken.`,
  )
}
