/**
 * The keys of encryption: a ring whose last key encrypts and whose other keys decrypt. A key is removed from it only when no value needs
 * it any more. The secret of digests never changes, because digests of one input are compared over years.
 */
import { readFileSync, statSync } from 'node:fs'
import { EngineError } from '../kernel/engine-error.ts'
import { secretBytes, systemRuntime } from '../runtime/index.ts'

const SECRET_BYTES = 32
const KEY_ID = /^[A-Za-z0-9_-]{1,32}$/
/** How often a file is looked at for another version. */
const RECHECK_MS = 1_000
const OPEN_TO_OTHERS = 0o077

export interface CodecKey {
  readonly id: string
  /** 32 bytes in base64url. */
  readonly secret: string
  readonly createdAt: number
}

/** Contains secrets: keep it where only the programs that use it can read it. */
export interface CodecKeysDocument {
  readonly keys: readonly CodecKey[]
  /** 32 bytes in base64url. */
  readonly digestSecret: string
}

/** A file, or its content. */
export type CodecKeysOption = string | CodecKeysDocument

/** Returns keys for a new key file. */
export function mintCodecKeys(now: number): CodecKeysDocument {
  return { keys: [mintKey(now)], digestSecret: mintSecret() }
}

/** Returns the keys with a new one, which encrypts from now on. */
export function rotateCodecKeys(document: CodecKeysDocument, now: number): CodecKeysDocument {
  parse(document, 'keys')
  return { ...document, keys: [...document.keys, mintKey(now)] }
}

/** Returns the keys without one of them. Values that were encrypted with it cannot be read any more. */
export function dropCodecKey(document: CodecKeysDocument, id: string): CodecKeysDocument {
  const keys = document.keys.filter((key) => key.id !== id)
  if (keys.length === document.keys.length) throw invalid(`there is no key ${JSON.stringify(id)}`)
  if (document.keys.at(-1)?.id === id) throw invalid(`the key ${JSON.stringify(id)} encrypts: rotate first`)
  return { ...document, keys }
}

export interface OpenCodecKeys {
  current(): { readonly id: string; readonly secret: Buffer }
  find(id: string): Buffer | undefined
  digestSecret(): Buffer
}

export function openCodecKeys(option: CodecKeysOption): OpenCodecKeys {
  const source = typeof option === 'string' ? new KeyFile(option) : { read: () => given }
  const given = typeof option === 'string' ? undefined : parse(option, 'keys')
  const ring = (isWanted: (ring: Ring) => boolean) => source.read(isWanted) as Ring
  // A file that cannot be used is refused now, and not by the first value.
  ring(() => true)
  return {
    current: () => ring(() => true).current,
    find: (id) => ring((read) => read.secrets.has(id)).secrets.get(id),
    digestSecret: () => ring(() => true).digestSecret,
  }
}

interface Ring {
  readonly current: { readonly id: string; readonly secret: Buffer }
  readonly secrets: ReadonlyMap<string, Buffer>
  readonly digestSecret: Buffer
}

/** Follows its file, so that a rotation needs no restart. */
class KeyFile {
  readonly #file: string
  readonly #runtime = systemRuntime()
  #ring: Ring | undefined
  #version = ''
  #checkedAt = -Infinity

  constructor(file: string) {
    this.#file = file
  }

  read(isWanted: (ring: Ring) => boolean): Ring {
    const now = this.#runtime.monotonic()
    if (this.#ring !== undefined && isWanted(this.#ring) && now - this.#checkedAt < RECHECK_MS) return this.#ring
    this.#checkedAt = now
    try {
      const stats = statSync(this.#file)
      if (process.platform !== 'win32' && (stats.mode & OPEN_TO_OTHERS) !== 0) {
        throw invalid(`the file ${this.#file} can be read by others: chmod 600 it`)
      }
      const version = [stats.ino, stats.size, stats.mtimeMs].join(' ')
      if (version === this.#version && this.#ring !== undefined) return this.#ring
      const ring = parse(parseJson(readFileSync(this.#file, 'utf8'), this.#file), this.#file)
      this.#version = version
      this.#ring = ring
      return ring
    } catch (error) {
      // A file that is being replaced is read again later.
      if (this.#ring !== undefined) return this.#ring
      if (error instanceof EngineError) throw error
      throw invalid(`the file ${this.#file} cannot be read (${(error as { code?: string }).code ?? 'unknown'})`)
    }
  }
}

/** Errors never quote the text, which contains secrets. */
function parseJson(text: string, file: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw invalid(`the file ${file} is not JSON`)
  }
}

function parse(given: unknown, name: string): Ring {
  const { keys, digestSecret } = (given ?? {}) as { readonly keys?: unknown; readonly digestSecret?: unknown }
  if (!Array.isArray(keys) || keys.length === 0) throw invalid(`${name} has no list of keys`)
  const secrets = new Map<string, Buffer>()
  for (const [i, each] of keys.entries()) {
    const { id, secret } = (each ?? {}) as { readonly id?: unknown; readonly secret?: unknown }
    if (typeof id !== 'string' || !KEY_ID.test(id))
      throw invalid(`keys[${i}].id of ${name} must match ${KEY_ID.source}`)
    if (secrets.has(id)) throw invalid(`${name} has the key ${id} twice`)
    secrets.set(id, secretOf(secret, `keys[${i}].secret of ${name}`))
  }
  const [id, secret] = [...secrets].at(-1) as [string, Buffer]
  return { current: { id, secret }, secrets, digestSecret: secretOf(digestSecret, `digestSecret of ${name}`) }
}

function secretOf(given: unknown, name: string): Buffer {
  const bytes = typeof given === 'string' ? Buffer.from(given, 'base64url') : undefined
  if (bytes?.byteLength !== SECRET_BYTES) throw invalid(`${name} must be ${SECRET_BYTES} bytes in base64url`)
  return bytes
}

function mintKey(now: number): CodecKey {
  return { id: `c${secretBytes(6).toString('hex')}`, secret: mintSecret(), createdAt: now }
}

function mintSecret(): string {
  return secretBytes(SECRET_BYTES).toString('base64url')
}

function invalid(problem: string): EngineError {
  return new EngineError('invalid_configuration', {
    field: 'codec',
    message: `The codec keys cannot be used: ${problem}.`,
  })
}
