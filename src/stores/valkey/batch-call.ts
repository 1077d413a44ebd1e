/** A batch as the function library takes it and answers it: packed calls, each with its blobs as raw bytes behind it. */
import { Decoder, Encoder } from '@msgpack/msgpack'
import { operations } from '../../kernel/index.ts'
import type { Instant, OperationName } from '../../kernel/index.ts'
import type { Answer, Call, Partition, Wake } from '../store.ts'
import { LayoutReader, LayoutWriter } from './layout.ts'
import { BY_LAYOUT, FAULT, WITH_NAMES, inputLayouts, resultLayouts, wakeFields } from './wire.ts'

const encoder = new Encoder({ ignoreUndefined: true })
const decoder = new Decoder()
const writer = new LayoutWriter()

/** The library knows operations by their numbers, counted from 1. */
const numbers = new Map(Object.keys(operations).map((name, i) => [name as OperationName, i + 1]))

/** The arguments behind the keys: the time if it is not the server's own, the sender, the calls with their blobs. */
export function packCalls(calls: readonly Call[], now: Instant | undefined, sender: string): (string | Buffer)[] {
  const args: (string | Buffer)[] = [now === undefined ? '' : String(now), sender]
  for (const call of calls) {
    args.push(packCall(call))
    for (const blob of call.blobs) args.push(asBuffer(blob))
  }
  return args
}

function packCall(call: Call): Buffer {
  const fields = inputLayouts[call.operation]
  const isInLayout =
    fields !== undefined &&
    writer.tries(() => {
      writeHead(call, BY_LAYOUT)
      writer.fields(fields, call.input)
    })
  if (isInLayout) return writer.take()
  writeHead(call, WITH_NAMES)
  return Buffer.concat([writer.take(), encoder.encodeSharedRef(call.input)])
}

function writeHead({ operation, blobs }: Call, code: number): void {
  writer.byte(code)
  writer.byte(numbers.get(operation) ?? 0)
  writer.byte(blobs.length)
}

/** Without what a Buffer adds: callers get the same kind of bytes from every store. */
function asBytes(buffer: Buffer): Uint8Array {
  return new Uint8Array(buffer.buffer, buffer.byteOffset, buffer.byteLength)
}

function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}

export interface BatchReply {
  readonly answers: Answer[]
  /** What changed, for listeners of this process; undefined if nothing did. */
  readonly wake: Wake | undefined
}

export function unpackReply(partition: Partition, calls: readonly Call[], reply: readonly Buffer[]): BatchReply {
  const [changes, codes] = reply
  let next = 2
  const answers = calls.map((call, i): Answer => {
    const code = codes?.[2 * i]
    const bytes = reply[next]
    if (code === undefined || bytes === undefined) return { kind: 'not_run' }
    const blobCount = codes?.[2 * i + 1] ?? 0
    const blobs = reply.slice(next + 1, next + 1 + blobCount).map(asBytes)
    next += 1 + blobCount
    return readAnswer(call.operation, code, bytes, blobs)
  })
  const isChanged = changes !== undefined && changes.length > 0
  return { answers, wake: isChanged ? readWake(partition, changes) : undefined }
}

function readAnswer(operation: OperationName, code: number, bytes: Buffer, blobs: readonly Uint8Array[]): Answer {
  if (code === FAULT) {
    const [reason, recordId] = decoder.decode(bytes) as [string, string]
    return { kind: 'fault', reason, recordId }
  }
  const layout = code === BY_LAYOUT ? resultLayouts[operation] : undefined
  const result = layout === undefined ? decoder.decode(bytes) : new LayoutReader(bytes).fields(layout.fields)
  return { kind: 'answered', result, blobs } as Answer
}

/** What every message of a sender begins with, so that it need not be read to be known. */
export function messageHead(sender: string): Buffer {
  writer.fields(
    wakeFields.filter(({ name }) => name === 'sender'),
    { sender },
  )
  return writer.take()
}

/** What changed, as an answer or a message of another process tells it. Throws if another version wrote it. */
export function readWake(partition: Partition, bytes: Buffer): Wake {
  const reader = new LayoutReader(bytes)
  const { ready, dueAt, hasEvents, holdersOf, growth } = reader.fields(wakeFields)
  if (!reader.isAtEnd) throw new RangeError('The message has another length than what it says.')
  return { partition, ready, dueAt, hasEvents, holdersOf, growth } as Wake
}
