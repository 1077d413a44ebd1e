/**
 * Bearer tokens in a file that `flowfabric tokens` manages. The file has the hash of each token, never a token. It is read
 * again when it has changed, so a revoked token is refused within a second.
 */
import { createHash, timingSafeEqual } from 'node:crypto'
import { open, readFile, rename, stat, unlink } from 'node:fs/promises'
import { checkNamespace, checkPrincipal } from '../../client/index.ts'
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

const PREFIX = 'fft_'
const TOKEN_BYTES = 32
const TOKEN_MAX = 1_000
const FILE_MAX_BYTES = 1_048_576
const CHECK_EVERY_MS = 1_000
const OWNER_ONLY = 0o600

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

const tokenDocument = shape<{ readonly version: 1; readonly tokens: readonly unknown[] }>(invalidConfiguration)(
  '{ version: 1, tokens: [] }',
  {
    version: required((value, field) => {
      if (value === 1) return 1
      throw invalidConfiguration(field, 'The file of tokens was written by a newer version.')
    }),
    tokens: required((value, field) => {
      if (Array.isArray(value) && value.length <= TOKEN_MAX) return value as readonly unknown[]
      throw invalidConfiguration(field, `${field} must be a list of at most ${TOKEN_MAX} tokens.`)
    }),
  },
)

/** Makes a token. Only its hash is stored. */
export function mintToken(): string {
  return PREFIX + secretBytes(TOKEN_BYTES).toString('base64url')
}

export function hashOf(token: string): string {
  return createHash('sha256').update(token).digest('hex')
}

/** Returns no tokens for a file that does not exist, if that is permitted. */
export async function readTokenFile(file: string, mayBeMissing = false): Promise<readonly StoredToken[]> {
  let text: string
  try {
    if ((await stat(file)).size > FILE_MAX_BYTES) throw new Error(`it has more than ${FILE_MAX_BYTES} bytes`)
    text = await readFile(file, 'utf8')
  } catch (cause) {
    const isMissing = cause instanceof Error && 'code' in cause && cause.code === 'ENOENT'
    if (isMissing && mayBeMissing) return []
    throw unreadable(file, cause)
  }
  try {
    return tokenDocument(JSON.parse(text), 'file').tokens.map((each, i) => storedToken(each, `tokens[${i}]`))
  } catch (cause) {
    throw unreadable(file, cause)
  }
}

/** Replaces the file in one step, so that a server never reads half of it. */
export async function writeTokenFile(file: string, tokens: readonly StoredToken[]): Promise<void> {
  const next = `${file}.${process.pid}.new`
  try {
    await using handle = await open(next, 'wx', OWNER_ONLY)
    await handle.writeFile(`${JSON.stringify({ version: 1, tokens }, null, 2)}\n`)
    await handle.sync()
  } catch (cause) {
    await unlink(next).catch(() => undefined)
    throw unreadable(file, cause)
  }
  await rename(next, file)
}

function unreadable(file: string, cause: unknown): EngineError {
  const why = cause instanceof EngineError ? (cause.detail.message ?? cause.message) : errorFields(cause).error
  const message = `The file of tokens ${file} cannot be used: ${why}`
  return new EngineError('invalid_configuration', { field: 'tokens', message }, { cause })
}

/** Finds the principal of a token. */
export class TokenFile {
  readonly #file: string
  readonly #runtime: Pick<Runtime, 'monotonic'>
  readonly #log: Log
  #tokens: readonly StoredToken[]
  #version: string
  #checkedAt: number
  #checking: Promise<void> | undefined

  private constructor(
    file: string,
    runtime: Pick<Runtime, 'monotonic'>,
    log: Log,
    read: { readonly tokens: readonly StoredToken[]; readonly version: string },
  ) {
    this.#file = file
    this.#runtime = runtime
    this.#log = log
    this.#tokens = read.tokens
    this.#version = read.version
    this.#checkedAt = runtime.monotonic()
  }

  /** Throws `invalid_configuration` if the file cannot be used. */
  static async open(file: string, runtime: Pick<Runtime, 'monotonic'>, log: Log): Promise<TokenFile> {
    const version = await versionOf(file)
    return new TokenFile(file, runtime, log, { tokens: await readTokenFile(file), version })
  }

  async principalOf(token: string): Promise<Principal | undefined> {
    await this.#refresh()
    const given = Buffer.from(hashOf(token), 'hex')
    const found = this.#tokens.find(({ sha256 }) => timingSafeEqual(Buffer.from(sha256, 'hex'), given))
    return found && { name: found.name, role: found.role, namespace: found.namespace }
  }

  async #refresh(): Promise<void> {
    if (this.#runtime.monotonic() - this.#checkedAt < CHECK_EVERY_MS) return
    this.#checking ??= this.#check().finally(() => (this.#checking = undefined))
    await this.#checking
  }

  /** A file that cannot be read accepts no token: one of them may have been revoked. */
  async #check(): Promise<void> {
    try {
      const version = await versionOf(this.#file)
      if (version !== this.#version) {
        this.#tokens = await readTokenFile(this.#file)
        this.#version = version
        this.#log.info({ file: this.#file, tokenCount: this.#tokens.length }, 'the tokens of the server have changed')
      }
      this.#checkedAt = this.#runtime.monotonic()
    } catch (error) {
      if (this.#version !== UNKNOWN) {
        this.#log.error(
          { file: this.#file, ...errorFields(error) },
          'the file of tokens cannot be read; all tokens are refused until it can',
        )
      }
      this.#tokens = []
      this.#version = UNKNOWN
    }
  }
}

const UNKNOWN = ''

async function versionOf(file: string): Promise<string> {
  try {
    const { ino, size, mtimeNs } = await stat(file, { bigint: true })
    return `${ino}.${size}.${mtimeNs}`
  } catch (cause) {
    throw unreadable(file, cause)
  }
}
