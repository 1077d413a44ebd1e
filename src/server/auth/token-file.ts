/**
 * Bearer tokens in a file that `flowfabric tokens` manages. The file has the hash of each token, never a token. It is read
 * again when it has changed, so a revoked token is refused within a second.
 */
import { createHash, timingSafeEqual } from 'node:crypto'
import {
  changePrivateFile,
  checkNamespace,
  checkPrincipal,
  parsePrivateJson,
  privateFileVersion,
  readPrivateFile,
} from '../../client/index.ts'
import type { PrivateFileErrors, PrivateText } from '../../client/index.ts'
import { EngineError } from '../../kernel/engine-error.ts'
import { invalidConfiguration } from '../../options/invalid-input.ts'
import { oneOf, required, shape, wholeNumber } from '../../options/shape.ts'
import { errorFields, secretBytes } from '../../runtime/index.ts'
import type { Log, Runtime } from '../../runtime/index.ts'
import { roles } from './principal.ts'
import type { Principal, Role } from './principal.ts'

/** A token as the file describes it. */
export interface StoredToken {
  readonly name: string
  readonly role: Role
  readonly namespace?: string | undefined
  /** SHA-256 of the token. A token has 256 random bits, so a slow hash would add nothing. */
  readonly sha256: string
  readonly createdAt: number
}

interface Read extends Omit<PrivateText, 'text'> {
  readonly tokens: readonly StoredToken[]
}

const PREFIX = 'fft_'
const TOKEN_BYTES = 32
const TOKEN_MAX = 1_000
const VERSION = 1
const CHECK_EVERY_MS = 1_000

const HASH = /^[0-9a-f]{64}$/

const storedToken = shape<StoredToken>(invalidConfiguration)("{ name: 'deploy', role: 'operator', sha256: '…' }", {
  name: required(checkPrincipal),
  role: required(oneOf<Role>(roles)),
  namespace: checkNamespace,
  sha256: required((value, field) => {
    if (typeof value === 'string' && HASH.test(value)) return value
    throw invalidConfiguration(field, `${field} must be a SHA-256 in hexadecimal digits.`)
  }),
  createdAt: required(wholeNumber(0)),
})

const tokenFileErrors: PrivateFileErrors = { missing: unusable, unusable }

/** Makes a token. Only its hash is stored. */
export function mintToken(): string {
  return PREFIX + secretBytes(TOKEN_BYTES).toString('base64url')
}

export function hashOf(token: string): string {
  return createHash('sha256').update(token).digest('hex')
}

/** Throws `invalid_configuration`. Errors never contain what is in the file: another file may have been named by mistake. */
export function readTokenFile(file: string): Read {
  const { text, ...read } = readPrivateFile(file, tokenFileErrors)
  return { tokens: parseTokens(file, text), ...read }
}

/** Replaces the tokens of a file, or creates the file. `change` gets no tokens if there is no file. */
export async function changeTokenFile(
  file: string,
  runtime: Runtime,
  change: (tokens: readonly StoredToken[] | undefined) => readonly StoredToken[],
): Promise<void> {
  await changePrivateFile(file, runtime, tokenFileErrors, (target) => {
    const isPresent = privateFileVersion(target) !== undefined
    const tokens = change(isPresent ? readTokenFile(target).tokens : undefined)
    return { text: `${JSON.stringify({ version: VERSION, tokens }, null, 2)}\n`, result: undefined }
  })
}

function parseTokens(file: string, text: string): readonly StoredToken[] {
  const document = parsePrivateJson(file, text, tokenFileErrors)
  const { version, tokens }: Readonly<Record<string, unknown>> =
    typeof document === 'object' && document !== null ? { ...document } : {}
  if (!Number.isSafeInteger(version) || !Array.isArray(tokens))
    throw unusable(file, 'has no tokens: it must be a file that flowfabric tokens has made')
  if (version !== VERSION) throw unusable(file, 'was written by a newer version')
  if (tokens.length > TOKEN_MAX) throw unusable(file, `has more than ${TOKEN_MAX} tokens`)
  return tokens.map((each: unknown, i) => {
    try {
      return storedToken(each, `tokens[${i}]`)
    } catch (error) {
      if (!(error instanceof EngineError)) throw error
      throw unusable(file, `has no valid token at ${error.detail.field ?? `tokens[${i}]`}`)
    }
  })
}

function unusable(file: string, problem: string): EngineError {
  return invalidConfiguration('tokens', `The file of tokens ${file} ${problem}.`)
}

/** Finds the principal of a token. */
export class TokenFile {
  readonly #file: string
  readonly #runtime: Pick<Runtime, 'monotonic'>
  readonly #log: Log
  #tokens: readonly StoredToken[]
  /** The version that was read; undefined while the file cannot be read. */
  #version: string | undefined
  #checkedAt: number
  #isOpenToOthers = false

  /** Throws `invalid_configuration` if the file cannot be used. */
  constructor(file: string, runtime: Pick<Runtime, 'monotonic'>, log: Log) {
    this.#file = file
    this.#runtime = runtime
    this.#log = log
    this.#checkedAt = runtime.monotonic()
    const read = readTokenFile(file)
    this.#tokens = read.tokens
    this.#version = read.version
    this.#warnOfOthers(read)
  }

  principalOf(token: string): Principal | undefined {
    this.#refresh()
    const given = Buffer.from(hashOf(token), 'hex')
    const found = this.#tokens.find(({ sha256 }) => timingSafeEqual(Buffer.from(sha256, 'hex'), given))
    return found && { name: found.name, role: found.role, namespace: found.namespace }
  }

  /** While the file cannot be read, every use checks it. */
  #refresh(): void {
    const now = this.#runtime.monotonic()
    if (this.#version !== undefined && now - this.#checkedAt < CHECK_EVERY_MS) return
    this.#checkedAt = now
    if (this.#version !== undefined && privateFileVersion(this.#file) === this.#version) return
    try {
      const read = readTokenFile(this.#file)
      this.#tokens = read.tokens
      this.#version = read.version
      this.#warnOfOthers(read)
      this.#log.info({ file: this.#file, tokenCount: read.tokens.length }, 'the tokens of the server have changed')
    } catch (error) {
      this.#refuseAll(error)
    }
  }

  /** A file that cannot be read accepts no token: one of them may have been revoked. */
  #refuseAll(error: unknown): void {
    if (this.#version !== undefined) {
      this.#log.error(
        { file: this.#file, ...errorFields(error) },
        'the file of tokens cannot be read; all tokens are refused until it can',
      )
    }
    this.#tokens = []
    this.#version = undefined
  }

  /** Another user who can change the file can add a token. */
  #warnOfOthers({ isOpenToOthers }: Read): void {
    if (isOpenToOthers && !this.#isOpenToOthers) {
      this.#log.warn(
        { file: this.#file },
        'other users can read or change the file of tokens; run chmod 600 on the file',
      )
    }
    this.#isOpenToOthers = isOpenToOthers
  }
}
