/** Yields the log lines of one execution: those that are kept, then new ones as they are stored, until the execution ends. */
import type { Instant } from '../../kernel/index.ts'
import type { LogFields } from '../../runtime/index.ts'
import type { FrameItem } from './read-frames.ts'
import { logLevels, logLineOf } from './log-line.ts'
import type { LogLineLevel } from './log-line.ts'

export interface LogsOptions {
  /** The cursor of the last item that was seen. Left out: the oldest line that is kept. */
  readonly from?: string
  /** Only lines of this level, or of a more important one. */
  readonly level?: LogLineLevel
  /** False ends the reader once it has all lines that there are. Default: true. */
  readonly follow?: boolean
  readonly signal?: AbortSignal
}

/** A line that a handler wrote by `ctx.log`. */
export interface LogLine {
  readonly kind: 'line'
  readonly level: LogLineLevel
  readonly message: string
  readonly fields: LogFields
  /** The step that was running. */
  readonly step: string | undefined
  readonly attempt: number
  /** The number of the line among those of the execution, from 1. */
  readonly sequence: number
  /** When it was written, by the store's clock as far as the writer knew it. */
  readonly at: Instant
  /** Whether it was too long: its fields were left out, or its message was cut. */
  readonly isCut: boolean
  /** Continues behind this line. */
  readonly cursor: string
}

/** What a reader of log lines receives. */
export type LogItem =
  | LogLine
  /** So many lines are not kept any more. Undefined: the cursor is of an earlier run of the execution. */
  | { readonly kind: 'trimmed'; readonly count: number | undefined; readonly cursor: string }

/** `frames` are those of the log. */
export async function* readLogs(
  frames: AsyncGenerator<FrameItem, void, undefined>,
  level: LogLineLevel,
): AsyncGenerator<LogItem, void, undefined> {
  const least = logLevels.indexOf(level)
  for await (const item of frames) {
    if (item.kind === 'trimmed') yield item
    if (item.kind !== 'frame') continue
    const found = logLevels.findIndex((each) => each === item.name)
    // Lines that cannot be read have no level.
    if (found >= 0 && found < least) continue
    const { attempt, sequence, at, cursor } = item
    yield {
      kind: 'line',
      level: logLevels[found] ?? 'info',
      ...logLineOf(item.value),
      attempt,
      sequence,
      at,
      cursor,
    }
  }
}
