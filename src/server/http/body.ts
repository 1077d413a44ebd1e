/** Reads the body of a request: JSON in UTF-8, within a size and a time. */
import { EngineError } from '../../kernel/engine-error.ts'
import { invalidInput } from '../../options/invalid-input.ts'
import type { Runtime } from '../../runtime/index.ts'

/** Levels of nesting that a body may have. */
const DEPTH_MAX = 200
const JSON_TYPE = /^application\/json(\s*;\s*charset="?utf-8"?)?\s*$/i
const FORM_TYPE = /^application\/x-www-form-urlencoded(\s*;\s*charset="?utf-8"?)?\s*$/i
/** A key with this name would set the prototype of an object that it is copied to. JSON may write any letter as an escape. */
const POLLUTING_KEY = '__proto__'

export interface BodyLimits {
  readonly bytes: number
  readonly ms: number
  /** Aborts when the server stops. Bodies that do not arrive soon after are given up. */
  readonly stopping: AbortSignal
}

/** How long a body may still take when the server stops. */
const STOP_MS = 1_000

/** Returns the parsed JSON, or undefined if there is no body. */
export async function readJson(request: Request, runtime: Runtime, limits: BodyLimits): Promise<unknown> {
  const text = await readText(request, runtime, limits, JSON_TYPE)
  return text === undefined ? undefined : parseJson(text)
}

/** Returns the fields of a form. A repeated field is refused. */
export async function readForm(
  request: Request,
  runtime: Runtime,
  limits: BodyLimits,
): Promise<Readonly<Record<string, string>>> {
  const text = (await readText(request, runtime, limits, FORM_TYPE)) ?? ''
  return Object.fromEntries(new URLSearchParams(text))
}

/** Returns the bytes of a body of one media type. */
export async function readOctets(
  request: Request,
  runtime: Runtime,
  limits: BodyLimits,
  mediaType: string,
): Promise<Uint8Array> {
  if (request.headers.get('content-type') !== mediaType) throw new EngineError('unsupported_media_type')
  return (await readBytes(request, runtime, limits)) ?? new Uint8Array()
}

async function readText(
  request: Request,
  runtime: Runtime,
  limits: BodyLimits,
  type: RegExp,
): Promise<string | undefined> {
  const bytes = await readBytes(request, runtime, limits)
  if (bytes === undefined || bytes.byteLength === 0) return undefined
  const encoding = request.headers.get('content-encoding') ?? 'identity'
  if (encoding.toLowerCase() !== 'identity') {
    throw new EngineError('unsupported_media_type', { message: 'The body is compressed: send it as it is.' })
  }
  if (!type.test(request.headers.get('content-type') ?? '')) throw new EngineError('unsupported_media_type')
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch (cause) {
    throw new EngineError('invalid_input', { field: 'body', message: 'The body is not UTF-8.' }, { cause })
  }
}

/** Stops reading at the limit, whatever the request says about its length. */
async function readBytes(request: Request, runtime: Runtime, limits: BodyLimits): Promise<Uint8Array | undefined> {
  const announced = Number(request.headers.get('content-length') ?? 0)
  if (announced > limits.bytes) throw tooLarge(limits)
  if (request.body === null) return undefined
  const reader = (request.body as ReadableStream<Uint8Array>).getReader()
  const chunks: Uint8Array[] = []
  let size = 0
  let refusal: EngineError | undefined
  const giveUp = (error: EngineError) => {
    refusal ??= error
    void reader.cancel().catch(() => undefined)
  }
  const timers = [runtime.after(limits.ms, () => giveUp(new EngineError('request_timeout')))]
  const onStop = () => timers.push(runtime.after(STOP_MS, () => giveUp(new EngineError('server_stopping'))))
  limits.stopping.addEventListener('abort', onStop, { once: true })
  if (limits.stopping.aborted) onStop()
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (refusal !== undefined) throw refusal
      if (done) break
      size += value.byteLength
      if (size > limits.bytes) {
        void reader.cancel().catch(() => undefined)
        throw tooLarge(limits)
      }
      chunks.push(value)
    }
  } catch (error) {
    if (error instanceof EngineError) throw error
    throw new EngineError('aborted', { message: 'The body ended before its end.' }, { cause: error })
  } finally {
    for (const timer of timers) timer.cancel()
    limits.stopping.removeEventListener('abort', onStop)
  }
  return chunks.length === 1 ? chunks[0] : Buffer.concat(chunks)
}

function tooLarge({ bytes }: BodyLimits): EngineError {
  return new EngineError('payload_too_large', {
    field: 'body',
    limit: bytes,
    message: `The body may have at most ${bytes} bytes.`,
  })
}

function parseJson(text: string): unknown {
  refuseDeep(text)
  try {
    return JSON.parse(text, mayPollute(text) ? refusePolluting : undefined)
  } catch (cause) {
    if (cause instanceof EngineError) throw cause
    throw new EngineError('invalid_input', { field: 'body', message: 'The body is not JSON.' }, { cause })
  }
}

function mayPollute(text: string): boolean {
  return text.includes(POLLUTING_KEY) || text.includes('\\u')
}

function refusePolluting(key: string, value: unknown): unknown {
  if (key !== POLLUTING_KEY) return value
  throw invalidInput('body', `The body has the key ${POLLUTING_KEY}, which is not accepted.`)
}

/** Counts brackets outside of texts: what is nested deeper could not be written again. */
function refuseDeep(text: string): void {
  if (text.length <= DEPTH_MAX) return
  let depth = 0
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i)
    if (unit === QUOTE) i = endOfText(text, i)
    else if (unit === OPEN_OBJECT || unit === OPEN_LIST) depth += 1
    else if (unit === CLOSE_OBJECT || unit === CLOSE_LIST) depth -= 1
    if (depth > DEPTH_MAX) throw invalidInput('body', `The body is nested deeper than ${DEPTH_MAX} levels.`)
  }
}

function endOfText(text: string, start: number): number {
  let end = text.indexOf('"', start + 1)
  while (end !== -1 && isEscaped(text, end)) end = text.indexOf('"', end + 1)
  return end === -1 ? text.length : end
}

function isEscaped(text: string, at: number): boolean {
  let slashes = 0
  while (text.charCodeAt(at - 1 - slashes) === BACKSLASH) slashes += 1
  return slashes % 2 === 1
}

const QUOTE = 34
const BACKSLASH = 92
const OPEN_LIST = 91
const CLOSE_LIST = 93
const OPEN_OBJECT = 123
const CLOSE_OBJECT = 125
