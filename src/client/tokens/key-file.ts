/**
 * A key ring in a file. The file is checked on use, at most once a second, so a rotation reaches every process without a
 * restart. An invalid change is logged, and the previous ring stays in use.
 */
import { closeSync, fstatSync, openSync, readFileSync, statSync } from 'node:fs'
import type { Stats } from 'node:fs'
import { errorFields } from '../../runtime/index.ts'
import type { Log, Runtime } from '../../runtime/index.ts'
import { EngineError } from '../../kernel/engine-error.ts'
import { KeyRing } from './key-ring.ts'
import type { KeySource } from './key-ring.ts'

/** The interval of checks for a change of the file. */
const CHECK_EVERY_MS = 1_000
/** Room for far more retired ids than rotations produce. */
export const KEY_FILE_MAX_BYTES = 1_048_576
/** The permission bits of users other than the owner. */
const OPEN_TO_OTHERS = 0o077

interface Read {
  readonly ring: KeyRing
  /** Identifies the version of the file: a rotation always creates a new one. */
  readonly version: string
  readonly isOpenToOthers: boolean
}

export class KeyFile implements KeySource {
  readonly #file: string
  readonly #runtime: Pick<Runtime, 'monotonic'>
  readonly #log: Log
  #ring: KeyRing
  #version: string
  #checkedAt: number

  /** Throws `signing_keys_missing` if the file is missing or empty, and `invalid_keys` if it holds no ring. */
  constructor(file: string, runtime: Pick<Runtime, 'monotonic'>, log: Log) {
    this.#file = file
    this.#runtime = runtime
    this.#log = log
    this.#checkedAt = runtime.monotonic()
    const read = readKeyFile(file)
    this.#ring = read.ring
    this.#version = read.version
    this.#warnOfOthers(read)
  }

  ring(): KeyRing {
    const now = this.#runtime.monotonic()
    if (now - this.#checkedAt >= CHECK_EVERY_MS) {
      this.#checkedAt = now
      this.#reload()
    }
    return this.#ring
  }

  #reload(): void {
    const version = readVersion(this.#file)
    if (version === this.#version) return
    // Set before the read, so that an invalid file is logged once and not at every check.
    this.#version = version
    try {
      const read = readKeyFile(this.#file)
      this.#version = read.version
      this.#ring = read.ring.after(this.#ring)
      this.#warnOfOthers(read)
      this.#log.info(
        { file: this.#file, keyId: this.#ring.current.id },
        'signing keys changed; new tokens are signed with the new key',
      )
    } catch (error) {
      const { error: text } = errorFields(error)
      this.#log.error(
        { file: this.#file, error: text },
        'the changed signing keys are invalid; the previous keys stay in use',
      )
    }
  }

  #warnOfOthers({ isOpenToOthers }: Read): void {
    if (!isOpenToOthers) return
    this.#log.warn({ file: this.#file }, 'other users can read the signing keys; run chmod 600 on the file')
  }
}

/** Reads a ring. Errors name the file, never its content. */
export function readKeyFile(file: string): Read {
  const { text, stats } = readOpen(file)
  if (text.trim() === '') throw missing(file, 'is empty')
  const isOpenToOthers = process.platform !== 'win32' && (stats.mode & OPEN_TO_OTHERS) !== 0
  return { ring: parseRing(file, text), version: versionOf(stats), isOpenToOthers }
}

/** Reads through one descriptor, so that content and version match even while the file is replaced. */
function readOpen(file: string): { readonly text: string; readonly stats: Stats } {
  let descriptor: number | undefined
  try {
    descriptor = openSync(file, 'r')
    const stats = fstatSync(descriptor)
    if (!stats.isFile()) throw unusable(file, 'is not a file')
    if (stats.size > KEY_FILE_MAX_BYTES) throw unusable(file, `is larger than ${KEY_FILE_MAX_BYTES} bytes`)
    return { text: readFileSync(descriptor, 'utf8'), stats }
  } catch (error) {
    if (error instanceof EngineError) throw error
    const code = fileErrorCode(error)
    throw code === 'ENOENT' ? missing(file, 'does not exist') : unusable(file, `cannot be read (${code})`)
  } finally {
    if (descriptor !== undefined) closeSync(descriptor)
  }
}

/** Discards the error of the JSON parser, which quotes the text and so the secrets. */
function parseRing(file: string, text: string): KeyRing {
  let document: unknown
  try {
    document = JSON.parse(text)
  } catch {
    throw unusable(file, 'is not JSON')
  }
  try {
    return KeyRing.parse(document)
  } catch (error) {
    if (!(error instanceof EngineError)) throw error
    throw new EngineError('invalid_keys', { field: 'keys', message: `${file}: ${error.detail.message ?? error.code}` })
  }
}

function readVersion(file: string): string {
  try {
    return versionOf(statSync(file))
  } catch (error) {
    return fileErrorCode(error)
  }
}

function versionOf(stats: Stats): string {
  return [stats.dev, stats.ino, stats.size, stats.mtimeMs].join(' ')
}

/** Returns the system's code of an error, such as `ENOENT`. */
export function fileErrorCode(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : 'unknown'
}

function missing(file: string, problem: string): EngineError {
  return new EngineError('signing_keys_missing', { field: 'keys', message: `The file ${file} ${problem}.` })
}

function unusable(file: string, problem: string): EngineError {
  return new EngineError('invalid_keys', { field: 'keys', message: `The file ${file} ${problem}.` })
}
