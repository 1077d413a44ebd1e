/** Writes records and events as programs of layout 4 did, with ids as texts, for tests that need a store of theirs. */
import { packEvent, packRecord, recordsReadAfter } from '../../../kernel/index.ts'
import type { AnyRecord, Cell, FabricEvent } from '../../../kernel/index.ts'
import { ByteWriter } from '../layout/byte-writer.ts'
import { putCell } from '../layout/put-value.ts'
import { TIME_BYTES } from '../layout/stored-value.ts'
import { TEXT_8 } from '../layout/value-tags.ts'

const VERSION = 'version4'
const TEXT_IN_TAG_MAX = 31

export function textRecordBytes(record: AnyRecord): Buffer {
  const brought = recordsReadAfter(record).map(({ type, id }) => {
    const name = Buffer.from(`${type === 'flow' ? 'f4' : 'x4'}:${id}`)
    return Buffer.concat([Buffer.of(name.length), name])
  })
  return Buffer.concat([Buffer.from(VERSION), Buffer.of(brought.length), ...brought, cellBytes(packRecord(record))])
}

export function textEventBytes(event: FabricEvent): Buffer {
  const time = Buffer.alloc(TIME_BYTES)
  time.writeUIntLE(event.at, 0, TIME_BYTES)
  return Buffer.concat([time, cellBytes(packEvent(event).toSpliced(1, 1))])
}

function cellBytes(cell: Cell): Buffer {
  if (Array.isArray(cell)) {
    const head = plainBytes([...cell].fill(0)).subarray(0, -cell.length || undefined)
    return Buffer.concat([head, ...cell.map(cellBytes)])
  }
  const text = typeof cell === 'string' ? Buffer.from(cell) : undefined
  if (text === undefined || text.length <= TEXT_IN_TAG_MAX || text.length > 255) return plainBytes(cell)
  return Buffer.concat([Buffer.of(TEXT_8, text.length), text])
}

function plainBytes(cell: Cell): Buffer {
  const writer = new ByteWriter()
  writer.value(putCell, cell)
  return writer.take()
}
