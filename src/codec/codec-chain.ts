/**
 * Seals the values of calls and opens those of answers, by one codec or several in order. The store and its operations get sealed bytes
 * only. A value that cannot be opened is replaced by the reason, which the program gets when it reads the value.
 */
import { EngineError } from '../kernel/engine-error.ts'
import type { BlobInput } from '../kernel/index.ts'
import type { CallCodec } from '../stores/call-codec.ts'
import { OpenedValue, UnopenedValue, isSealed } from '../stores/opened-value.ts'
import type { Answer, Call } from '../stores/store.ts'
import { boundInputs, boundOutputs } from './bindings.ts'
import type { Binding } from './bindings.ts'
import { damaged, packEnvelope, unpackEnvelope } from './envelope.ts'
import type { ValueCodec } from './value-codec.ts'

type Answered = Extract<Answer, { kind: 'answered' }>

interface Sealed {
  readonly input: BlobInput
  readonly bytes: Uint8Array
}

export class CodecChain implements CallCodec {
  readonly maxBytes: number | undefined
  readonly #codecs: readonly ValueCodec[]
  readonly #refusesPlain: boolean
  /** A call that is sent again has the same bytes. */
  readonly #sealed = new WeakMap<BlobInput, Promise<Sealed>>()

  constructor(codecs: readonly ValueCodec[]) {
    this.#codecs = codecs
    this.#refusesPlain = codecs.some(({ refusesPlain }) => refusesPlain === true)
    const limits = codecs.map(({ maxBytes }) => maxBytes).filter((limit) => limit !== undefined)
    this.maxBytes = limits.length === 0 ? undefined : Math.max(...limits)
  }

  async encodeCall<C extends Call>(call: C): Promise<C> {
    if (call.blobs.length === 0) return call
    try {
      return await this.#encode(call)
    } catch (error) {
      if (error instanceof EngineError) throw error
      throw new EngineError('invalid_input', { message: 'A codec has failed to encode a value.' }, { cause: error })
    }
  }

  async #encode<C extends Call>(call: C): Promise<C> {
    const blobs = [...call.blobs]
    const replaced = new Map<unknown, unknown>()
    let count = 0
    for (const [input, binding] of boundInputs(call.operation, call.input)) {
      if (input === undefined) continue
      count += 1
      const bytes = blobs[input.blob]
      if (binding === undefined || bytes === undefined) continue
      const sealed = await this.#seal(input, bytes, binding)
      blobs[input.blob] = sealed.bytes
      replaced.set(input, sealed.input)
    }
    // A value that no rule names must not reach the store.
    if (count !== call.blobs.length) throw new EngineError('invalid_input', { message: unbound(call.operation) })
    return { ...call, input: withReplaced(call.input, replaced), blobs }
  }

  digest(bytes: Uint8Array): string | undefined {
    return this.#codecs.find((codec) => codec.digest !== undefined)?.digest?.(bytes)
  }

  #seal(input: BlobInput, bytes: Uint8Array, binding: Binding): Promise<Sealed> {
    let sealed = this.#sealed.get(input)
    if (sealed === undefined) {
      sealed = this.#sealNow(input, bytes, binding)
      this.#sealed.set(input, sealed)
      sealed.catch(() => this.#sealed.delete(input))
    }
    return sealed
  }

  async #sealNow(input: BlobInput, plain: Uint8Array, { text: binding, owner }: Binding): Promise<Sealed> {
    const { blob, encoding } = input
    const codecs: string[] = []
    let bytes = plain
    for (const codec of this.#codecs) {
      const encoded = await codec.encode(bytes, { binding, owner, encoding })
      if (encoded === undefined) continue
      bytes = encoded
      codecs.push(codec.name)
    }
    // Bytes that begin like a sealed value get an envelope, so that they are not mistaken for one.
    if (codecs.length === 0 && !isSealed(plain)) return { input, bytes: plain }
    const packed = packEnvelope({ binding, encoding, codecs }, bytes)
    // As JSON the mark of a sealed value is unmistakable, also for a process without a codec.
    return { input: { blob, size: packed.byteLength, encoding: 'json' }, bytes: packed }
  }

  async openAnswer(call: Call, answer: Answered): Promise<Answered> {
    if (answer.blobs.length === 0) return answer
    const blobs = [...answer.blobs]
    const bound = boundOutputs(call.operation, answer.result, call.input).filter(([blob]) => blob !== undefined)
    if (new Set(bound.map(([blob]) => blob)).size !== blobs.length) {
      throw new EngineError('corruption', { message: unbound(call.operation) })
    }
    for (const [blob, allowed, isPlain] of bound) {
      const bytes = blobs[blob ?? -1]
      if (blob === undefined || bytes === undefined || isPlain === true) continue
      blobs[blob] = await this.#openValue(bytes, allowed, call)
    }
    return { ...answer, blobs }
  }

  /** The list is not authenticated, so a forger may have left out the codec that authenticates the value. */
  #checkCodecs(names: readonly string[]): void {
    if (new Set(names).size !== names.length) throw damaged('names a codec twice')
    const needed = this.#codecs.filter(({ refusesPlain }) => refusesPlain === true)
    if (!needed.every(({ name }) => names.includes(name))) throw plainRefused()
  }

  async #openValue(bytes: Uint8Array, allowed: readonly string[], call: Call): Promise<Uint8Array> {
    if (!isSealed(bytes)) {
      return this.#refusesPlain ? UnopenedValue.because(plainRefused()) : bytes
    }
    try {
      const { header, body } = unpackEnvelope(bytes)
      const { binding, encoding } = header
      if (!allowed.includes(binding)) throw damaged(`was written as: ${binding}`)
      this.#checkCodecs(header.codecs)
      let opened = body
      for (const name of header.codecs.toReversed()) {
        const codec = this.#codecs.find((each) => each.name === name)
        if (codec === undefined) {
          throw new EngineError('value_sealed', { message: `The value needs the codec '${name}'.` })
        }
        opened = await codec.decode(opened, { binding, owner: undefined, encoding })
      }
      return OpenedValue.withEncoding(opened, encoding)
    } catch (error) {
      const reason = error instanceof EngineError ? error : damaged('cannot be opened', { cause: error })
      // A claim must be answered, whatever one of its values is. Other calls are made again.
      const isClaim = call.operation === 'claimForWorker' || call.operation === 'completeExecution'
      if (reason.code === 'store_unavailable' && !isClaim) throw reason
      return UnopenedValue.because(reason)
    }
  }
}

function plainRefused(): EngineError {
  return damaged('is not sealed, and this program accepts sealed values only')
}

function unbound(operation: string): string {
  return `The values of ${operation} are not known to the codec.`
}

/** Returns a copy in which some objects are replaced. Shares everything else. */
function withReplaced<T>(value: T, replaced: ReadonlyMap<unknown, unknown>): T {
  const found = replaced.get(value)
  if (found !== undefined) return found as T
  if (Array.isArray(value)) return value.map((item: unknown) => withReplaced(item, replaced)) as T
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, part]) => [key, withReplaced(part as unknown, replaced)]),
  ) as T
}
