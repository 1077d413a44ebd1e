/** A batch as the function library takes it and answers it: packed calls, and blobs as raw bytes beside them. */
import { Encoder, decodeMulti } from '@msgpack/msgpack'
import type { ExecutionId, Instant } from '../../kernel/index.ts'
import type { Answer, Call, Partition, Wake } from '../store.ts'

const encoder = new Encoder({ ignoreUndefined: true })

/** The arguments behind the keys: the time if it is not the server's own, the sender, the calls, the blobs. */
export function packCalls(calls: readonly Call[], now: Instant | undefined, sender: string): (string | Buffer)[] {
  const packed = encoder.encode(calls.map(({ operation, input, blobs }) => [operation, input, blobs.length]))
  const args: (string | Buffer)[] = [now === undefined ? '' : String(now), sender, asBuffer(packed)]
  for (const { blobs } of calls) for (const blob of blobs) args.push(asBuffer(blob))
  return args
}

/** Without what a Buffer adds: callers get the same kind of bytes from every store. */
function asBytes(buffer: Buffer): Uint8Array {
  return new Uint8Array(buffer.buffer, buffer.byteOffset, buffer.byteLength)
}

function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}

type PackedAnswer = readonly [result: object, blobCount: number] | readonly [false, reason: string, recordId: string]

type PackedReply = [
  answers: readonly PackedAnswer[],
  ready: readonly string[],
  dueAt: Instant | false,
  hasEvents: boolean,
  holdersOf: readonly ExecutionId[],
]

export interface BatchReply {
  readonly answers: Answer[]
  /** What changed, for listeners of this process; undefined if nothing did. */
  readonly wake: Wake | undefined
}

export function unpackReply(partition: Partition, calls: readonly Call[], reply: readonly Buffer[]): BatchReply {
  const [head, ...blobs] = reply
  const [packed, ready, dueAt, hasEvents, holdersOf] = [...decodeMulti(head ?? Buffer.alloc(0))] as PackedReply
  let nextBlob = 0
  const answers = calls.map((_, i): Answer => {
    const answer = packed[i]
    if (answer === undefined) return { kind: 'not_run' }
    if (answer[0] === false) return { kind: 'fault', reason: answer[1], recordId: answer[2] }
    const [result, blobCount] = answer
    const own = blobs.slice(nextBlob, nextBlob + blobCount).map(asBytes)
    nextBlob += blobCount
    return { kind: 'answered', result, blobs: own } as Answer
  })
  const isChanged = hasEvents || ready.length > 0 || dueAt !== false
  const wake: Wake = { partition, ready, dueAt: dueAt === false ? undefined : dueAt, hasEvents, holdersOf }
  return { answers, wake: isChanged ? wake : undefined }
}

/** What another process published: who it was, and what changed. */
export function unpackWake(partition: Partition, message: Buffer): { readonly sender: string; readonly wake: Wake } {
  const [sender, ready, dueAt, holdersOf] = [...decodeMulti(message)] as [
    string,
    string[],
    Instant | false,
    ExecutionId[],
  ]
  return { sender, wake: { partition, ready, dueAt: dueAt === false ? undefined : dueAt, hasEvents: false, holdersOf } }
}
