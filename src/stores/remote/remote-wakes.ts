/**
 * The wake-ups of a server, from one stream that is open while anything listens. What happened while it was not connected is unknown,
 * so each connection begins with a wake-up for every partition.
 */
import type { IncomingMessage } from 'node:http'
import { backoffMs, sleep } from '../../runtime/index.ts'
import type { Runtime } from '../../runtime/index.ts'
import { partitionsOf } from '../partitions.ts'
import type { StoreSettings, Wake } from '../store.ts'
import { WakeListeners } from '../wake-listeners.ts'
import type { RemoteConnection } from './remote-connection.ts'
import { WAKES_PATH } from './wire.ts'

const RECONNECT_MAX_MS = 2_000
/** The server sends a heartbeat at least every 15 seconds. */
const SILENT_MS = 40_000
const DATA = 'data: '
const MESSAGE_END = '\n\n'
/** A message that is longer is not one of the server. */
const MESSAGE_CHARS = 16_777_216

export class RemoteWakes {
  readonly #runtime: Runtime
  readonly #connection: RemoteConnection
  readonly #settings: StoreSettings
  readonly #listeners = new WakeListeners()
  readonly #closing = new AbortController()
  #stream: AbortController | undefined
  /** Once a listener needs the growth of logs, all later connections ask for it. */
  #withEvents = false

  constructor(runtime: Runtime, connection: RemoteConnection, settings: StoreSettings) {
    this.#runtime = runtime
    this.#connection = connection
    this.#settings = settings
  }

  add(listener: (wake: Wake) => void, needsEvents: boolean): () => void {
    const remove = this.#listeners.add(listener)
    if (needsEvents && !this.#withEvents) {
      this.#withEvents = true
      this.#stop()
    }
    this.#start()
    return () => {
      remove()
      if (this.#listeners.size === 0) this.#stop()
    }
  }

  close(): void {
    this.#closing.abort()
    this.#stop()
    this.#listeners.clear()
  }

  #start(): void {
    if (this.#stream !== undefined || this.#closing.signal.aborted) return
    const stream = new AbortController()
    this.#stream = stream
    void this.#follow(stream.signal)
  }

  #stop(): void {
    this.#stream?.abort()
    this.#stream = undefined
  }

  async #follow(signal: AbortSignal): Promise<void> {
    for (let failureCount = 0; !signal.aborted; failureCount++) {
      try {
        const path = `${WAKES_PATH}?events=${this.#withEvents}`
        const headers = { accept: 'text/event-stream' }
        const response = await this.#connection.open({ method: 'GET', path, headers, signal, silentMs: SILENT_MS })
        failureCount = 0
        this.#notifyOfAll(signal)
        await this.#read(response, signal)
      } catch {
        // Calls report what is wrong with the server. Without wake-ups, listeners look from time to time.
      }
      await sleep(this.#runtime, backoffMs(this.#runtime, failureCount + 1, RECONNECT_MAX_MS), signal)
    }
  }

  async #read(response: IncomingMessage, signal: AbortSignal): Promise<void> {
    response.setEncoding('utf8')
    let rest = ''
    for await (const chunk of response as AsyncIterable<string>) {
      rest += chunk
      for (let end = rest.indexOf(MESSAGE_END); end !== -1; end = rest.indexOf(MESSAGE_END)) {
        const message = rest.slice(0, end)
        rest = rest.slice(end + MESSAGE_END.length)
        if (signal.aborted) return
        for (const wake of wakesIn(message)) this.#listeners.notify(wake)
      }
      if (rest.length > MESSAGE_CHARS) throw new Error('a message is too long')
    }
  }

  #notifyOfAll(signal: AbortSignal): void {
    for (const partition of partitionsOf(this.#settings, ['fp', 'q', 'm'])) {
      if (!signal.aborted) this.#listeners.notify({ partition, hasEvents: true })
    }
  }
}

function wakesIn(message: string): readonly Wake[] {
  const line = message.split('\n').find((each) => each.startsWith(DATA))
  if (line === undefined) return []
  const { wakes } = JSON.parse(line.slice(DATA.length)) as { readonly wakes?: readonly Wake[] }
  return wakes ?? []
}
