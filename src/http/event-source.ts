/** Reads Server-Sent Events with fetch, which sends the token as a header, and continues after a broken connection. */
import { EngineError } from '../kernel/engine-error.ts'
import { errorOf } from './transport.ts'
import type { RawRequest, Transport } from './transport.ts'

export interface EventMessage<Data> {
  /** Continues behind this message, as `lastEventId`. */
  readonly id: string
  readonly event: string
  readonly data: Data
}

export interface FollowOptions {
  /** Continues behind the message with this id. */
  readonly lastEventId?: string
  /** Called whenever the stream is open, at first and after each broken connection: from then on, nothing is missed. */
  readonly onOpen?: () => void
}

/** Connections in a row that break before a message arrives. */
const BROKEN_MAX = 5
const PAUSE_MS = 1_000

/** Ends with the message `end`, or when the server has no more. */
export async function* readEvents(
  transport: Transport,
  request: RawRequest,
  { lastEventId, onOpen }: FollowOptions,
): AsyncGenerator<EventMessage<unknown>, void, undefined> {
  let last = lastEventId
  for (let broken = 0; ; broken++) {
    try {
      const headers = last === undefined ? {} : { 'last-event-id': last }
      const response = await transport.send({ ...request, headers })
      if (response.status === 204 || response.body === null) return
      onOpen?.()
      for await (const { id, event, data } of messagesIn(response.body)) {
        last = id ?? last
        if (event === 'end') return
        if (event === 'error') throw errorOf(JSON.parse(data) as object, 500)
        if (event === undefined) continue
        broken = 0
        yield { id: last ?? '', event, data: JSON.parse(data) as unknown }
      }
    } catch (error) {
      if (request.signal?.aborted === true) return
      if (!isBroken(error) || broken >= BROKEN_MAX) throw error
    }
    await pause(request.signal)
    if (request.signal?.aborted === true) return
  }
}

function isBroken(error: unknown): boolean {
  return !(error instanceof EngineError) || error.isRetryable
}

interface RawMessage {
  readonly id: string | undefined
  readonly event: string | undefined
  readonly data: string
}

async function* messagesIn(body: ReadableStream<Uint8Array>): AsyncGenerator<RawMessage, void, undefined> {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader()
  let rest = ''
  try {
    for (let next = await reader.read(); !next.done; next = await reader.read()) {
      rest += next.value
      for (let end = rest.indexOf('\n\n'); end !== -1; end = rest.indexOf('\n\n')) {
        yield parse(rest.slice(0, end))
        rest = rest.slice(end + 2)
      }
    }
  } finally {
    await reader.cancel().catch(() => undefined)
  }
}

function parse(text: string): RawMessage {
  const fields = new Map(text.split('\n').map((line) => line.split(/: ?(.*)/, 2) as [string, string]))
  return { id: fields.get('id'), event: fields.get('event'), data: fields.get('data') ?? '{}' }
}

async function pause(signal: AbortSignal | undefined): Promise<void> {
  await new Promise<void>((resolve) => {
    const finish = () => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', finish)
      resolve()
    }
    // eslint-disable-next-line no-restricted-globals -- The runtime of the library needs Node, and a browser has none.
    const timer = setTimeout(finish, PAUSE_MS)
    signal?.addEventListener('abort', finish, { once: true })
  })
}
