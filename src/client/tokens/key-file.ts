/**
 * A key ring in a file. The file is checked on use, at most once a second, so a rotation reaches every process without a
 * restart. A change that cannot be read is logged, and the previous ring stays in use for a limited time: without the file, a
 * process cannot know which keys were retired.
 */
import { errorFields } from '../../runtime/index.ts'
import type { Log, Runtime } from '../../runtime/index.ts'
import { EngineError } from '../../kernel/engine-error.ts'
import { KeyRing, isSameRing, mintKey, revealRing } from './key-ring.ts'
import type { KeySource } from './key-ring.ts'
import { parsePrivateJson, privateFileVersion, readPrivateFile } from './private-file.ts'
import type { PrivateFileErrors, PrivateText } from './private-file.ts'
import { changePrivateFile } from './private-file-change.ts'

/** The interval of checks for a change of the file. */
const CHECK_EVERY_MS = 1_000
/** How long a process uses keys that it can no longer compare with the file. */
export const KEY_RING_STALE_MAX_MS = 60_000

const keyFileErrors: PrivateFileErrors = {
  missing: (file, problem) => errorOf('signing_keys_missing', file, problem),
  unusable: (file, problem) => errorOf('invalid_keys', file, problem),
}

interface Read extends Omit<PrivateText, 'text'> {
  readonly ring: KeyRing
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

  /** Other processes read the new key within a second. */
  async rotateStored(graceMs: number, runtime: Runtime): Promise<KeyRing> {
    const now = runtime.now()
    const ring = await changeKeyFile(this.#file, runtime, (present) =>
      present === undefined ? KeyRing.begin(now) : present.rotate(mintKey(now), graceMs, now),
    )
    this.#reload(runtime.monotonic())
    return ring
  }

  /** Other processes refuse its tokens within a second. */
  async retireStored(id: string, runtime: Runtime): Promise<KeyRing> {
    const ring = await changeKeyFile(this.#file, runtime, (present) =>
      (present ?? readKeyFile(this.#file).ring).retire(id),
    )
    this.#reload(runtime.monotonic())
    return ring
  }

  #reload(now: number): void {
    try {
      if (privateFileVersion(this.#file) !== this.#version) this.#take(readKeyFile(this.#file))
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

/** Reads a ring. Throws `signing_keys_missing` or `invalid_keys`. */
export function readKeyFile(file: string): Read {
  const { text, ...read } = readPrivateFile(file, keyFileErrors)
  if (text.trim() === '') throw keyFileErrors.missing(file, 'is empty')
  return { ring: parseRing(file, text), ...read }
}

/** Replaces the ring in a file, or creates the file, and returns the new ring. */
export async function changeKeyFile(
  file: string,
  runtime: Runtime,
  change: (ring: KeyRing | undefined) => KeyRing,
): Promise<KeyRing> {
  return await changePrivateFile(file, runtime, keyFileErrors, (target) => {
    const result = change(presentRing(target))
    return { text: `${JSON.stringify(revealRing(result), null, 2)}\n`, result }
  })
}

function presentRing(file: string): KeyRing | undefined {
  try {
    return readKeyFile(file).ring
  } catch (error) {
    if (error instanceof EngineError && error.code === 'signing_keys_missing') return undefined
    throw error
  }
}

function parseRing(file: string, text: string): KeyRing {
  const document = parsePrivateJson(file, text, keyFileErrors)
  try {
    return KeyRing.parse(document)
  } catch (error) {
    if (!(error instanceof EngineError)) throw error
    throw new EngineError('invalid_keys', { field: 'keys', message: `${file}: ${error.detail.message ?? error.code}` })
  }
}

function errorOf(code: 'signing_keys_missing' | 'invalid_keys', file: string, problem: string): EngineError {
  return new EngineError(code, { field: 'keys', message: `The file ${file} ${problem}.` })
}
