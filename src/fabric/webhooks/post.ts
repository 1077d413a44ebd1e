/**
 * Sends a webhook. Every address is checked when it is connected to, so that a name cannot lead to a private host after the check.
 * Redirects are not followed.
 */
import { lookup } from 'node:dns'
import type { LookupAddress } from 'node:dns'
import { request as requestHttp } from 'node:http'
import type { IncomingMessage, RequestOptions } from 'node:http'
import { request as requestHttps } from 'node:https'
import { EngineError } from '../../kernel/engine-error.ts'
import { isPublicAddress, unsafe } from '../../client/webhooks/webhook-url.ts'
import type { Runtime } from '../../runtime/index.ts'

export interface PostRequest {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  readonly allowPrivate: boolean
  readonly signal: AbortSignal
  readonly runtime: Pick<Runtime, 'after'>
}

export interface PostAnswer {
  readonly status: number
  /** What the receiver asks for with `retry-after`. */
  readonly retryAfterSeconds: number | undefined
}

/** Sends one request and resolves with its answer. Rejects if there is none. */
export type Post = (request: PostRequest) => Promise<PostAnswer>

/** How long a request with its answer may take, also if the receiver sends it byte by byte. */
const ANSWER_MAX_MS = 20_000
/** Bytes of an answer that are read, so that its connection ends in order. */
const ANSWER_BYTES_MAX = 65_536

type LookupFunction = NonNullable<RequestOptions['lookup']>

const publicLookup: LookupFunction = (hostname, options, callback) => {
  lookup(hostname, { ...options, all: true }, (error, found?: LookupAddress[]) => {
    const addresses = found ?? []
    const [first] = addresses
    if (first === undefined) callback(error ?? unsafe('Its host has no address.'), '', 0)
    else if (!addresses.every(({ address }) => isPublicAddress(address))) {
      callback(unsafe('Its host has an address that is not public.'), '', 0)
    } else if (options.all === true) callback(null, addresses)
    else callback(null, first.address, first.family)
  })
}

export const post: Post = ({ url, headers, body, allowPrivate, signal, runtime }) =>
  new Promise((resolve, reject) => {
    const send = url.startsWith('https:') ? requestHttps : requestHttp
    const options: RequestOptions = {
      method: 'POST',
      headers: { ...headers, 'content-length': Buffer.byteLength(body) },
      agent: false,
      signal,
      ...(allowPrivate ? {} : { lookup: publicLookup }),
    }
    const outgoing = send(url, options, (answer) => {
      discard(answer)
      resolve({ status: answer.statusCode ?? 0, retryAfterSeconds: secondsOf(answer.headers['retry-after']) })
    })
    const giveUp = () => outgoing.destroy(new Error('no answer within 20 s'))
    const timer = runtime.after(ANSWER_MAX_MS, giveUp, { background: true })
    outgoing.on('close', () => timer.cancel())
    outgoing.on('error', (error: NodeJS.ErrnoException) => {
      // The text of a connection error may contain addresses of the network, so only its code is kept.
      reject(error instanceof EngineError ? error : new Error(error.code ?? error.message))
    })
    outgoing.end(body)
  })

function discard(answer: IncomingMessage): void {
  let byteCount = 0
  answer.on('data', (chunk: Buffer) => {
    byteCount += chunk.length
    if (byteCount > ANSWER_BYTES_MAX) answer.destroy()
  })
  answer.on('error', () => undefined)
}

function secondsOf(header: string | undefined): number | undefined {
  return header !== undefined && /^\d{1,9}$/.test(header) ? Number(header) : undefined
}
