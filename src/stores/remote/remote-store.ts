/**
 * A store behind a FlowFabric server. The operations run in the server, which checks each of them; this process has no credentials of
 * the store. What happens to calls whose reply is lost is the same as with a store whose connection is lost: the callers repeat them.
 */
import { EngineError } from '../../kernel/engine-error.ts'
import type { Runtime } from '../../runtime/index.ts'
import type {
  Answer,
  Call,
  EventHint,
  EventPage,
  FactKind,
  Partition,
  PartitionDump,
  Store,
  StoreReport,
  StoreSettings,
  Wake,
  WakeInterest,
} from '../store.ts'
import { RemoteConnection, REQUESTS_AT_ONCE, remoteError } from './remote-connection.ts'
import type { TokenSource } from './remote-connection.ts'
import type { RemoteLocation } from './remote-location.ts'
import { RemoteWakes } from './remote-wakes.ts'
import { pack, PORT_BODY_BYTES, PORT_CALL_MAX, PORT_PATH, PORT_TYPE, PORT_VERSION, unpack } from './wire.ts'
import type { WireAnswer, WireCall, WireReply } from './wire.ts'

export interface RemoteStoreOptions {
  readonly runtime: Runtime
  readonly location: RemoteLocation
  readonly token: TokenSource | undefined
}

/** The description of the server and of the caller's reach. */
interface Greeting {
  readonly versions: readonly number[]
  readonly settings: StoreSettings
  readonly level: number
  /** The only namespace that the token reaches. */
  readonly namespace?: string
  readonly store: StoreReport
}

/** Calls of one partition, which stay together. */
interface Outgoing {
  readonly calls: readonly WireCall[]
  readonly blobs: readonly Uint8Array[]
  readonly bytes: number
  readonly resolve: (answers: Answer[]) => void
  readonly reject: (error: unknown) => void
}

/** Batches of one partition in flight at most. The server joins them with those of other clients. */
const BATCHES_AT_ONCE = 4
/** How long a server may take to answer. */
const ANSWER_MS = 30_000
/** Bytes after which a further call goes into another request. */
const REQUEST_BYTES = 1_048_576
const ARGUMENT_BYTES = 512

export class RemoteStore implements Store {
  readonly isRemote = true
  readonly settings: StoreSettings
  /** The only namespace that the token reaches. */
  readonly namespace: string | undefined
  readonly batchesAtOnce = BATCHES_AT_ONCE
  readonly busyBatches = REQUESTS_AT_ONCE
  readonly #connection: RemoteConnection
  readonly #wakes: RemoteWakes
  readonly #report: StoreReport
  readonly #abort = new AbortController()
  #level: number
  #outgoing: Outgoing[] = []

  private constructor(runtime: Runtime, connection: RemoteConnection, greeting: Greeting) {
    this.#connection = connection
    this.settings = greeting.settings
    this.namespace = greeting.namespace
    this.#report = greeting.store
    this.#level = greeting.level
    this.#wakes = new RemoteWakes(runtime, connection, greeting.settings)
  }

  static async open({ runtime, location, token }: RemoteStoreOptions): Promise<RemoteStore> {
    const connection = new RemoteConnection(location, token)
    try {
      const body = await connection.send({ method: 'GET', path: PORT_PATH, silentMs: ANSWER_MS })
      const greeting = JSON.parse(Buffer.from(body).toString()) as Greeting
      if (!greeting.versions.includes(PORT_VERSION)) {
        const message = `The server speaks the versions ${greeting.versions.join(', ')} of the operation port, and this program speaks ${PORT_VERSION}: update the older one.`
        throw new EngineError('invalid_configuration', { field: 'location', message })
      }
      return new RemoteStore(runtime, connection, greeting)
    } catch (error) {
      connection.close()
      if (error instanceof EngineError) throw error
      const message = `${location.url} answers, but not as a FlowFabric server.`
      throw new EngineError('store_not_found', { field: 'location', message }, { cause: error })
    }
  }

  get level(): number {
    return this.#level
  }

  run(partition: Partition, calls: readonly Call[]): Promise<Answer[]> {
    const sent = calls.map(({ operation, input, blobs }) => ({ partition, operation, input, blobs: blobs.length }))
    return this.#send(
      sent,
      calls.flatMap(({ blobs }) => blobs),
    )
  }

  async readEvents(partition: Partition, after: number, limit: number, hint?: EventHint): Promise<EventPage> {
    return (await this.#ask(partition, 'readEvents', { after, limit, hint })) as EventPage
  }

  /** The engine of the server trims the log. */
  trimEvents(): Promise<number> {
    return Promise.reject(notServed('The retention of events'))
  }

  async recordFacts(kind: FactKind, names: readonly string[]): Promise<void> {
    await this.#ask('m:0', 'recordFacts', { kind, names })
  }

  async findFacts(kind: FactKind, names: readonly string[]): Promise<string[]> {
    return ((await this.#ask('m:0', 'findFacts', { kind, names })) as { readonly names: string[] }).names
  }

  onWake(listener: (wake: Wake) => void, interest?: WakeInterest): () => void {
    return this.#wakes.add(listener, interest?.eventsOf !== undefined)
  }

  report(): Promise<StoreReport> {
    return Promise.resolve({ ...this.#report, location: this.#connection.location.url })
  }

  dump(): Promise<PartitionDump> {
    return Promise.reject(notServed('The content of a partition'))
  }

  close(): Promise<void> {
    this.#wakes.close()
    this.#abort.abort()
    this.#connection.close()
    return Promise.resolve()
  }

  async #ask(partition: Partition, operation: string, input: object): Promise<unknown> {
    const [answer] = await this.#send([{ partition, operation, input, blobs: 0 }], [])
    if (answer?.kind === 'answered') return answer.result
    throw answer?.kind === 'failed' ? answer.error : new EngineError('store_unavailable')
  }

  /** Calls of one turn go together. */
  #send(calls: readonly WireCall[], blobs: readonly Uint8Array[]): Promise<Answer[]> {
    return new Promise((resolve, reject) => {
      if (this.#outgoing.length === 0) queueMicrotask(() => this.#flush())
      const bytes = blobs.reduce((sum, blob) => sum + blob.byteLength, ARGUMENT_BYTES * calls.length)
      this.#outgoing.push({ calls, blobs, bytes, resolve, reject })
    })
  }

  #flush(): void {
    let batch: Outgoing[] = []
    let bytes = 0
    let count = 0
    for (const each of this.#outgoing.splice(0)) {
      const isFull = count + each.calls.length > PORT_CALL_MAX || bytes + each.bytes > REQUEST_BYTES
      if (batch.length > 0 && isFull) {
        void this.#exchange(batch)
        batch = []
        bytes = 0
        count = 0
      }
      batch.push(each)
      bytes += each.bytes
      count += each.calls.length
    }
    if (batch.length > 0) void this.#exchange(batch)
  }

  /** Settles all calls of a request. */
  async #exchange(batch: readonly Outgoing[]): Promise<void> {
    try {
      const calls = batch.flatMap((each) => each.calls)
      const body = pack(
        { version: PORT_VERSION, calls },
        batch.flatMap(({ blobs }) => blobs),
      )
      if (body.byteLength > PORT_BODY_BYTES) throw tooLarge(body.byteLength)
      const reply = await this.#connection.send({
        method: 'POST',
        path: PORT_PATH,
        headers: { 'content-type': PORT_TYPE },
        body,
        signal: this.#abort.signal,
        silentMs: ANSWER_MS,
      })
      const answers = this.#answersIn(reply, calls.length)
      let at = 0
      for (const { resolve, calls: own } of batch) resolve(answers.slice(at, (at += own.length)))
    } catch (error) {
      for (const { reject } of batch) reject(error)
    }
  }

  #answersIn(reply: Uint8Array, count: number): Answer[] {
    const { head, blobs } = unpackReply(reply)
    const { answers, level } = head as WireReply
    if (answers.length !== count) throw garbled()
    this.#level = Math.max(this.#level, level)
    let at = 0
    return answers.map((answer: WireAnswer): Answer => {
      if (answer.error !== undefined) return { kind: 'failed', error: remoteError(answer.error) }
      const own = blobs.slice(at, at + answer.blobs)
      at += answer.blobs
      return { kind: 'answered', result: answer.result as Extract<Answer, { kind: 'answered' }>['result'], blobs: own }
    })
  }
}

function unpackReply(reply: Uint8Array): ReturnType<typeof unpack> {
  try {
    return unpack(reply)
  } catch (cause) {
    throw new EngineError('store_unavailable', { message: 'The server answered with what is no reply.' }, { cause })
  }
}

function garbled(): EngineError {
  return new EngineError('store_unavailable', { message: 'The server answered another number of calls.' })
}

function tooLarge(bytes: number): EngineError {
  return new EngineError('payload_too_large', {
    limit: PORT_BODY_BYTES,
    message: `The operation has ${bytes} bytes with its payloads, and a server takes at most ${PORT_BODY_BYTES}.`,
  })
}

function notServed(what: string): EngineError {
  const message = `${what} is not served over HTTP: run it with the location of the store.`
  return new EngineError('invalid_configuration', { field: 'location', message })
}
