/**
 * A key ring in a file. The file is checked on use, at most once a second, so a rotation reaches every process without a
 * restart. A change that cannot be read is logged, and the previous ring stays in use for a limited time: without the file, a
 * process cannot know which keys were retired.
 */
import { closeSync, constants, fstatSync, openSync, readFileSync, statSync } from 'node:fs'
import type { BigIntStats } from 'node:fs'
import { errorFields } from '../../runtime/index.ts'
import type { Log, Runtime } from '../../runtime/index.ts'
import { EngineError } from '../../kernel/engine-error.ts'
import { KeyRing, isSameRing } from './key-ring.ts'
import type { KeySource } from './key-ring.ts'

/** The interval of checks for a change of the file. */
const CHECK_EVERY_MS = 1_000
/** How long a process uses keys that it can no longer compare with the file. */
export const KEY_RING_STALE_MAX_MS = 60_000
/** Room for far more retired ids than rotations produce. */
export const KEY_FILE_MAX_BYTES = 1_048_576
/** The permission bits of users other than the owner. */
const OPEN_TO_OTHERS = 0o077n
/** A pipe that replaces the file between check and open must not block the process. Windows has no such flag. */
const OPEN_FLAGS = constants.O_RDONLY | ((constants as { O_NONBLOCK?: number }).O_NONBLOCK ?? 0)

interface Read {
  readonly ring: KeyRing
  /** Identifies the version of the file, its owner and its mode. */
  readonly version: string
  readonly isOpenToOthers: boolean
}

export class KeyFile implements KeySource {
  readonly #file: string
  readonly #runtime: Pick<Runtime, 'monotonic'>
  readonly #log: Log
  #ring: KeyRing
  /** The version that was read last. A version that could not be read is never remembered here. */
  #version: string
  #checkedAt: number
  /** When the file was last known to be the one that was read. */
  #confirmedAt: number
  /** The problem that was logged last; undefined while the file can be read. */
  #problem: string | undefined
  #isOpenToOthers = false
  #isStaleLogged = false

  /** Throws `signing_keys_missing` if the file is missing or empty, and `invalid_keys` if it holds no ring. */
  constructor(file: string, runtime: Pick<Runtime, 'monotonic'>, log: Log) {
    this.#file = file
    this.#runtime = runtime
    this.#log = log
    this.#checkedAt = runtime.monotonic()
    this.#confirmedAt = this.#checkedAt
    const read = readKeyFile(file)
    this.#ring = read.ring
    this.#version = read.version
    this.#warnOfOthers(read)
  }

  /** Throws `signing_keys_stale` once the file could not be read for too long. */
  ring(): KeyRing {
    const now = this.#runtime.monotonic()
    // While the file cannot be read, every use checks it, so that a short gap of a rotation is not prolonged.
    if (this.#problem !== undefined || now - this.#checkedAt >= CHECK_EVERY_MS) {
      this.#checkedAt = now
      this.#reload(now)
    }
    if (now - this.#confirmedAt > KEY_RING_STALE_MAX_MS) throw this.#stale()
    return this.#ring
  }

  #reload(now: number): void {
    try {
      if (readVersion(this.#file) !== this.#version) this.#take(readKeyFile(this.#file))
    } catch (error) {
      this.#complain(errorFields(error).error)
      return
    }
    this.#confirmedAt = now
    if (this.#problem === undefined) return
    this.#problem = undefined
    this.#isStaleLogged = false
    this.#log.info({ file: this.#file }, 'the signing keys can be read again')
  }

  #take(read: Read): void {
    const ring = read.ring.after(this.#ring)
    this.#version = read.version
    this.#warnOfOthers(read)
    if (isSameRing(ring, this.#ring)) return
    this.#ring = ring
    this.#log.info(
      { file: this.#file, keyId: ring.current.id },
      'signing keys changed; new tokens are signed with the new key',
    )
  }

  /** Logs a problem once, and not at every check. */
  #complain(problem: string): void {
    if (problem === this.#problem) return
    this.#problem = problem
    this.#log.error(
      { file: this.#file, error: problem, staleAfterMs: KEY_RING_STALE_MAX_MS },
      'the signing keys cannot be read; the previous keys stay in use for a limited time',
    )
  }

  #stale(): EngineError {
    const seconds = KEY_RING_STALE_MAX_MS / 1_000
    if (!this.#isStaleLogged) {
      this.#isStaleLogged = true
      this.#log.error(
        { file: this.#file, error: this.#problem },
        `the signing keys could not be read for ${seconds} s and may have been retired since; all tokens are refused until the file can be read`,
      )
    }
    const message = `The file ${this.#file} could not be read for ${seconds} s, and its keys may have been retired since.`
    return new EngineError('signing_keys_stale', { field: 'keys', message })
  }

  #warnOfOthers({ isOpenToOthers }: Read): void {
    if (isOpenToOthers && !this.#isOpenToOthers) {
      this.#log.warn({ file: this.#file }, 'other users can read the signing keys; run chmod 600 on the file')
    }
    this.#isOpenToOthers = isOpenToOthers
  }
}

/** Reads a ring. Errors name the file, never its content. */
export function readKeyFile(file: string): Read {
  const { text, stats } = readOpen(file)
  if (text.trim() === '') throw missing(file, 'is empty')
  const isOpenToOthers = process.platform !== 'win32' && (stats.mode & OPEN_TO_OTHERS) !== 0n
  return { ring: parseRing(file, text), version: versionOf(stats), isOpenToOthers }
}

/** Reads through one descriptor, so that content and version match even while the file is replaced. */
function readOpen(file: string): { readonly text: string; readonly stats: BigIntStats } {
  let descriptor: number | undefined
  try {
    // Opening a device can have effects, and opening a pipe can block, so the kind of file is checked before.
    refuseUnlessFile(file, statSync(file, { bigint: true }))
    descriptor = openSync(file, OPEN_FLAGS)
    const stats = fstatSync(descriptor, { bigint: true })
    refuseUnlessFile(file, stats)
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

function refuseUnlessFile(file: string, stats: BigIntStats): void {
  if (!stats.isFile()) throw unusable(file, 'is not a regular file')
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

/** Returns the version of the file; undefined if there is none, so that the read that follows reports why. */
function readVersion(file: string): string | undefined {
  try {
    return versionOf(statSync(file, { bigint: true }))
  } catch {
    return undefined
  }
}

/** A change of the owner or the mode is a change of the file: it can make it readable, or readable to others. */
function versionOf({ dev, ino, size, mtimeNs, ctimeNs, uid, gid, mode }: BigIntStats): string {
  return [dev, ino, size, mtimeNs, ctimeNs, uid, gid, mode].join(' ')
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
