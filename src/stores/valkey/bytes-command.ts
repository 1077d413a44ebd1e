/**
 * A command that is answered with bytes. All commands of one turn go to the socket together: a write for each would cost more
 * than putting the command together.
 */
import type { Writable } from 'node:stream'
import { Command } from 'ioredis'

export class BytesCommand extends Command {
  constructor(name: string, args: (string | number | Buffer)[]) {
    super(name, args, { replyEncoding: null })
  }

  override toWritable(socket: object): string | Buffer {
    holdBack(socket as Writable)
    return super.toWritable(socket)
  }
}

const heldBack = new WeakSet<Writable>()

/** Until the turn is over. */
function holdBack(socket: Writable): void {
  if (heldBack.has(socket)) return
  heldBack.add(socket)
  socket.cork()
  process.nextTick(() => {
    heldBack.delete(socket)
    socket.uncork()
  })
}
