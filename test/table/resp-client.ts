/** Just enough of the server's protocol to load a library and call its functions. One command at a time. */
import { connect } from 'node:net'
import type { Socket } from 'node:net'

export type Reply = string | number | null | Reply[]

export interface RespClient {
  call(...command: string[]): Promise<Reply>
  close(): void
}

/** A reply that has arrived whole, and where it ends; undefined while a part of it is missing. */
interface Parsed {
  readonly reply: Reply | Error
  readonly end: number
}

const LINE_END = '\r\n'

function parse(bytes: Buffer, start: number): Parsed | undefined {
  const lineEnd = bytes.indexOf(LINE_END, start)
  if (lineEnd === -1) return undefined
  const kind = String.fromCharCode(bytes[start] ?? 0)
  const line = bytes.toString('utf8', start + 1, lineEnd)
  const end = lineEnd + LINE_END.length
  switch (kind) {
    case '+':
      return { reply: line, end }
    case '-':
      return { reply: new Error(line), end }
    case ':':
      return { reply: Number(line), end }
    case '$':
      return parseBulk(bytes, end, Number(line))
    case '*':
      return parseArray(bytes, end, Number(line))
    default:
      throw new Error(`The server sent a reply of an unknown kind: ${kind}`)
  }
}

function parseBulk(bytes: Buffer, start: number, length: number): Parsed | undefined {
  if (length === -1) return { reply: null, end: start }
  const end = start + length + LINE_END.length
  return bytes.length < end ? undefined : { reply: bytes.toString('utf8', start, start + length), end }
}

function parseArray(bytes: Buffer, start: number, length: number): Parsed | undefined {
  const replies: Reply[] = []
  let end = start
  for (let i = 0; i < length; i++) {
    const item = parse(bytes, end)
    if (item === undefined) return undefined
    if (item.reply instanceof Error) return item
    replies.push(item.reply)
    end = item.end
  }
  return { reply: replies, end }
}

function encode(command: readonly string[]): string {
  const parts = command.map((part) => `$${Buffer.byteLength(part)}${LINE_END}${part}${LINE_END}`)
  return `*${command.length}${LINE_END}${parts.join('')}`
}

function receive(socket: Socket): Promise<Reply> {
  const { promise, resolve, reject } = Promise.withResolvers<Reply>()
  const chunks: Buffer[] = []
  const settle = (reply: Reply | Error): void => {
    socket.off('data', listen)
    socket.off('close', lose)
    if (reply instanceof Error) reject(reply)
    else resolve(reply)
  }
  const listen = (chunk: Buffer): void => {
    chunks.push(chunk)
    const parsed = parse(Buffer.concat(chunks), 0)
    if (parsed !== undefined) settle(parsed.reply)
  }
  const lose = (): void => settle(new Error('The server closed the connection.'))
  socket.on('data', listen)
  socket.on('close', lose)
  return promise
}

export async function connectTo(port: number): Promise<RespClient> {
  const socket = connect(port, '127.0.0.1')
  const { promise, resolve, reject } = Promise.withResolvers<undefined>()
  socket.once('connect', () => resolve(undefined))
  socket.once('error', reject)
  await promise
  return {
    call: (...command) => {
      const reply = receive(socket)
      socket.write(encode(command))
      return reply
    },
    close: () => void socket.destroy(),
  }
}
