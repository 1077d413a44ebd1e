/**
 * A transport for the chat of the AI SDK (`useChat`), whose replies are executions. A reply is streamed from the frames of its
 * execution, with a read token. It runs in a page; the two functions that it gets call routes of your own server.
 */
import type { ChatTransport, UIMessage, UIMessageChunk } from 'ai'
import { connect } from '../src/http.ts'

/** The execution that writes a reply, and a token that reads it. */
export interface Reply {
  readonly id: string
  readonly token: string
}

export interface ChatServer {
  readonly url: string
  /** Starts the reply to a message, or returns the one that was started before. */
  readonly start: (chatId: string, messages: readonly UIMessage[], trigger: string) => Promise<Reply>
  /** Returns the latest reply of a chat, if there is one. */
  readonly latest: (chatId: string) => Promise<Reply | undefined>
}

type SendOptions = Parameters<ChatTransport<UIMessage>['sendMessages']>[0]

export class FabricChatTransport implements ChatTransport<UIMessage> {
  /** A stream that is resumed has the reply from its beginning, because frames are kept. */
  readonly resumeStreamIsReplay = true
  readonly #server: ChatServer

  constructor(server: ChatServer) {
    this.#server = server
  }

  async sendMessages({ chatId, messages, trigger, abortSignal }: SendOptions): Promise<ReadableStream<UIMessageChunk>> {
    return this.#read(await this.#server.start(chatId, messages, trigger), abortSignal)
  }

  /** After a reload: continues the reply that is being written. A finished reply is among the messages of the page. */
  async reconnectToStream({
    chatId,
    abortSignal,
  }: {
    readonly chatId: string
    readonly abortSignal?: AbortSignal | undefined
  }): Promise<ReadableStream<UIMessageChunk> | null> {
    const reply = await this.#server.latest(chatId)
    if (reply === undefined) return null
    const api = connect(this.#server.url, { token: reply.token })
    const found = await api.get('/v1/executions/{id}/result', { params: { id: reply.id } })
    return 'outcome' in found ? null : this.#read(reply, abortSignal)
  }

  #read(reply: Reply, signal: AbortSignal | undefined): ReadableStream<UIMessageChunk> {
    const chunks = chunksOf(this.#server.url, reply, signal)
    return new ReadableStream({
      pull: async (controller) => {
        const next = await chunks.next()
        if (next.done === true) controller.close()
        else controller.enqueue(next.value)
      },
      cancel: () => void chunks.return(undefined),
    })
  }
}

/** Turns the frames of an execution into parts of a message. An attempt that was lost leaves its text; the next one is another part. */
async function* chunksOf(
  url: string,
  { id, token }: Reply,
  signal: AbortSignal | undefined,
): AsyncGenerator<UIMessageChunk, void, undefined> {
  const api = connect(url, { token })
  const asked = { params: { id }, query: { name: 'token' }, ...(signal === undefined ? {} : { signal }) }
  let part: string | undefined
  yield { type: 'start', messageId: id }
  for await (const { data } of api.events('/v1/executions/{id}/frames/live', asked)) {
    if (data.kind === 'trimmed') continue
    const current = `attempt-${data.attempt}`
    if (part !== undefined && part !== current) yield { type: 'text-end', id: part }
    if (data.kind === 'attempt') continue
    if (part !== current) yield { type: 'text-start', id: current }
    part = current
    yield { type: 'text-delta', id: current, delta: String(data.value) }
  }
  if (signal?.aborted === true) {
    yield { type: 'abort' }
    return
  }
  if (part !== undefined) yield { type: 'text-end', id: part }
  const { outcome, failure, reason } = await api.wait(id)
  if (outcome === 'completed') yield { type: 'finish' }
  else yield { type: 'error', errorText: failure?.message ?? reason ?? outcome }
}
