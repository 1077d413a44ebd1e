/**
 * Commands that are answered with bytes. All commands of one turn go to the socket together: a write for each would cost more
 * than putting the command together.
 */
import type { Writable } from 'node:stream'
import { Command } from 'ioredis'
import type { FunctionCall, ValueRead } from './call-writer.ts'

export class BytesCommand extends Command {
  constructor(name: string, args: (string | number | Buffer)[]) {
    super(name, args, { replyEncoding: null })
  }

  override toWritable(socket: object): string | Buffer {
    holdBack(socket as Writable)
    return super.toWritable(socket)
  }
}

/** An encoded call. A cluster client routes it by its keys. */
export class ReadyCommand extends Command {
  readonly #bytes: Buffer

  constructor({ name, keys, bytes }: FunctionCall) {
    super('FCALL', [name, keys.length, ...keys], { replyEncoding: null })
    this.#bytes = bytes
  }

  override toWritable(socket: object): Buffer {
    holdBack(socket as Writable)
    return this.#bytes
  }
}

/** An encoded read of values. */
export class ReadyRead extends Command {
  readonly #bytes: Buffer

  constructor({ key, bytes }: ValueRead) {
    super('MGET', [key], { replyEncoding: null })
    this.#bytes = bytes
  }

  override toWritable(socket: object): Buffer {
    holdBack(socket as Writable)
    return this.#bytes
  }
}

const heldBack = new WeakSet<Writable>()

/** Until the turn is over. */
function holdBack(socket: Writable): void {
  if (heldBack.has(socket)) return
  heldBack.add(socket)
  socket.cork()
  // eslint-disable-next-line no-restricted-properties -- a command has no runtime, and no clock is involved
  process.nextTick(() => {
    heldBack.delete(socket)
    socket.uncork()
  })
}
