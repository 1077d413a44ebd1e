/** Log lines of executions that a worker runs without a connection to the store. They are kept as those of `ctx.log` are. */
import { FRAME_APPEND_BYTES } from '../../kernel/limits.ts'
import type { LogFields } from '../../runtime/index.ts'
import { ADMISSION_LEVEL, levelTooLow } from '../../stores/level/store-level.ts'
import { invalidInput } from '../checks/names.ts'
import type { Session } from '../session.ts'
import { FramePacker } from '../streams/frame-codec.ts'
import { packLogLine } from '../streams/log-line.ts'
import type { LogLineLevel } from '../streams/log-line.ts'
import { unwrap } from '../transport/unwrap.ts'
import { fenced } from './fenced.ts'

export interface LeaseLogLine {
  readonly level: LogLineLevel
  readonly message: string
  /** The step that was running. */
  readonly step?: string | undefined
  readonly fields?: LogFields | undefined
  /** How long ago it was written. */
  readonly ageMs?: number | undefined
}

export class LeaseLogs {
  readonly #session: () => Session

  constructor(session: () => Session) {
    this.#session = session
  }

  /**
   * Appends lines, oldest first. Appends of one lease are numbered from 1; a number that was appended before changes nothing. Accepted from the
   * latest claim, also after its lease has ended.
   */
  async append(id: string, lease: string, append: number, lines: readonly LeaseLogLine[]) {
    const session = this.#session()
    const refusal = levelTooLow(session.batcher.store, ADMISSION_LEVEL, 'The log of an execution')
    if (refusal !== undefined) throw refusal
    const holder = fenced(session, id, lease)
    const oldestMs = lines.reduce((oldest, { ageMs = 0 }) => Math.max(oldest, ageMs), 0)
    const packer = new FramePacker(0)
    for (const { level, message, step, fields, ageMs = 0 } of lines) {
      packer.add(packLogLine(level, message, step, fields), oldestMs - ageMs)
    }
    const { count, size } = packer
    if (size > FRAME_APPEND_BYTES) {
      throw invalidInput('lines', `lines have ${size} bytes, but may have ${FRAME_APPEND_BYTES}: send them in parts.`)
    }
    const frames = { blob: 0, size, encoding: 'bytes' } as const
    const input = { ...holder, append, chunk: { count, newCount: count, frames, ageMs: oldestMs } }
    return unwrap((await session.run(holder.executionId, 'appendLogLines', input, [packer.packed])).result).kind
  }
}
