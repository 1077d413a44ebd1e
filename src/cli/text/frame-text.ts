/** Formats an item of a stream as one line: time, sequence, name and value. */
import type { FrameItem } from '../../client/index.ts'
import type { Output } from './output.ts'
import { printable } from './printable.ts'
import { isoTime } from './time-text.ts'
import { valueForJson } from './value-text.ts'

export function frameText(item: FrameItem, output: Output): string {
  switch (item.kind) {
    case 'frame': {
      const number = item.isLive ? 'live' : String(item.sequence)
      const value = printable(JSON.stringify(valueForJson(item.value)))
      return `${output.style('dim', isoTime(item.at))} ${number} ${output.style('cyan', item.name)} ${value}`
    }
    case 'attempt':
      return output.style('bold', `attempt ${item.attempt}`)
    case 'trimmed':
      return output.style(
        'yellow',
        item.count === undefined
          ? 'the frames of an earlier run were removed'
          : `${item.count} frames are not kept any more`,
      )
  }
}
