/**
 * A ring of keys in a file, as a running process sees it. The file is looked at on use, at most once a second: a rotation
 * reaches every process without a restart. A change that cannot be used changes nothing; the ring before it stays.
 */
import { closeSync, fstatSync, openSync, readFileSync, statSync } from 'node:fs'
import type { Stats } from 'node:fs'
import { errorFields } from '../../runtime/index.ts'
import type { Log, Runtime } from '../../runtime/index.ts'
import { EngineError } from '../../kernel/engine-error.ts'
import { KeyRing } from './key-ring.ts'
import type { KeySource } from './key-ring.ts'

/** How long a change of the file may go unseen. */
const LOOK_EVERY_MS = 1_000
/** Room for far more retired ids than anybody's rotations leave behind. */
export const KEY_FILE_MAX_BYTES = 1_048_576
/** Anybody else than the owner may read or change it. */
const OPEN_TO_OTHERS = 0o077

interface Read {
  readonly ring: KeyRing
  /** Two files that look the same are the same: a rotation always makes a new one. */
  readonly look: string
  readonly isOpenToOthers: boolean
}

export class KeyFile implements KeySource {
  readonly #file: string
  readonly #runtime: Pick<Runtime, 'monotonic'>
  readonly #log: Log
  #ring: KeyRing
  #look: string
  #lookedAt: number

  /** Throws `signing_keys_missing` if there is nothing, and `invalid_keys` if there is something else than a ring. */
  constructor(file: string, runtime: Pick<Runtime, 'monotonic'>, log: Log) {
    this.#file = file
    this.#runtime = runtime
    this.#log = log
    this.#lookedAt = runtime.monotonic()
    const read = readKeyFile(file)
    this.#ring = read.ring
    this.#look = read.look
    this.#warnOfOthers(read)
  }

  ring(): KeyRing {
    const now = this.#runtime.monotonic()
    if (now - this.#lookedAt >= LOOK_EVERY_MS) {
      this.#lookedAt = now
      this.#lookAgain()
    }
    return this.#ring
  }

  #lookAgain(): void {
    const look = lookAt(this.#file)
    if (look === this.#look) return
    // Whatever comes of it, it is said once and not with every look.
    this.#look = look
    try {
      const read = readKeyFile(this.#file)
      this.#look = read.look
      this.#ring = read.ring.after(this.#ring)
      this.#warnOfOthers(read)
      this.#log.info({ file: this.#file, keyId: this.#ring.current.id }, 'The signing keys have changed.')
    } catch (error) {
      const { error: text } = errorFields(error)
      this.#log.error(
        { file: this.#file, error: text },
        'The changed signing keys cannot be used; the ones before stay.',
      )
    }
  }

  #warnOfOthers({ isOpenToOthers }: Read): void {
    if (!isOpenToOthers) return
    this.#log.warn({ file: this.#file }, 'The file of signing keys is open to other users: chmod 600 is what it needs.')
  }
}

/** Reads a ring. Errors name the file and never what is in it. */
export function readKeyFile(file: string): Read {
  const { text, stats } = readOpen(file)
  if (text.trim() === '') throw missing(file, 'is empty')
  const isOpenToOthers = process.platform !== 'win32' && (stats.mode & OPEN_TO_OTHERS) !== 0
  return { ring: parseRing(file, text), look: lookOf(stats), isOpenToOthers }
}

/** Through one descriptor, so that what is read is what was looked at even while the file is being replaced. */
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

/** What the parser of JSON complains with quotes the text, and so secrets: its error goes no further. */
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

function lookAt(file: string): string {
  try {
    return lookOf(statSync(file))
  } catch (error) {
    return fileErrorCode(error)
  }
}

function lookOf(stats: Stats): string {
  return [stats.dev, stats.ino, stats.size, stats.mtimeMs].join(' ')
}

/** What the system calls a failure: `ENOENT` and the like. */
export function fileErrorCode(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : 'unknown'
}

function missing(file: string, problem: string): EngineError {
  return new EngineError('signing_keys_missing', { field: 'keys', message: `The file ${file} ${problem}.` })
}

function unusable(file: string, problem: string): EngineError {
  return new EngineError('invalid_keys', { field: 'keys', message: `The file ${file} ${problem}.` })
}
