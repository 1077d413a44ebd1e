/** Finds out who sends a request: by a hook of the user or a file of tokens. Without either, every sender is the same. */
import { READ_TOKEN_PREFIX } from '../../client/index.ts'
import type { ReadClaims } from '../../client/index.ts'
import { EngineError } from '../../kernel/engine-error.ts'
import type { ErrorCode } from '../../kernel/errors.ts'
import { errorFields } from '../../runtime/index.ts'
import type { Log, Runtime } from '../../runtime/index.ts'
import { FailureCounts } from './failures.ts'
import { ANONYMOUS, checkedPrincipal } from './principal.ts'
import type { Caller, Principal } from './principal.ts'
import { sessionToken, withSessionToken, withToken } from './session-cookie.ts'

/** Returns the sender of a request, or undefined to refuse it. */
export type Authenticate = (request: Request) => Principal | undefined | Promise<Principal | undefined>

const BEARER = /^Bearer ([A-Za-z0-9._~+/=-]{1,4096})$/i

/** Returns the token of the header `Authorization`. */
export function bearerToken(request: Request): string | undefined {
  return BEARER.exec(request.headers.get('authorization') ?? '')?.[1]
}

/** The parts of a server that find out who sends a request. */
export interface AuthenticatorOptions {
  readonly authenticate: Authenticate | undefined
  /** Returns what a read token permits. Throws if it is not valid. */
  readonly verifyReadToken: (token: string) => Promise<ReadClaims>
  readonly runtime: Runtime
  readonly log: Log
}

export class Authenticator {
  readonly #options: AuthenticatorOptions
  readonly #failures: FailureCounts

  constructor(options: AuthenticatorOptions) {
    this.#options = options
    this.#failures = new FailureCounts(options.runtime)
  }

  /** Returns the principal of a token that a person enters. */
  async principalOfToken(request: Request, token: string, address: string | undefined): Promise<Principal> {
    // A read token is for one execution, and the dashboard shows all of them.
    if (token.startsWith(READ_TOKEN_PREFIX)) throw new EngineError('unauthorized')
    return await this.principalOf(withToken(request, token), address, undefined)
  }

  /** `readToken` is a token in the query, which only readers of one execution may send there. */
  async principalOf(request: Request, address: string | undefined, readToken: string | undefined): Promise<Caller> {
    const { authenticate } = this.#options
    const given = readToken ?? bearerToken(request)
    const isReader = readToken !== undefined || given?.startsWith(READ_TOKEN_PREFIX) === true
    if (authenticate === undefined && !isReader) return ANONYMOUS
    this.#failures.refuse(address)
    const principal = isReader ? await this.#readerOf(given ?? '') : await authenticate?.(withSessionToken(request))
    if (principal !== undefined) return isReader ? principal : checked(principal)
    // A request without credentials is not an attempt to guess some.
    const isExplicit = isReader || request.headers.has('authorization')
    const cookie = isExplicit ? undefined : sessionToken(request)
    if (isExplicit || cookie !== undefined) {
      this.#failures.add(address, cookie)
      this.#options.log.info({ address }, 'refused a request with invalid credentials')
    }
    throw new EngineError('unauthorized')
  }

  async #readerOf(token: string): Promise<Caller | undefined> {
    try {
      const { executionId, namespace } = await this.#options.verifyReadToken(token)
      return { name: 'reader', role: 'viewer', namespace, execution: executionId }
    } catch (error) {
      if (error instanceof EngineError && REFUSALS.includes(error.code)) return undefined
      throw error
    }
  }
}

const REFUSALS: readonly ErrorCode[] = ['missing_token', 'invalid_token', 'token_expired', 'signing_keys_missing']

function checked(principal: Principal): Principal {
  try {
    return checkedPrincipal(principal, 'principal')
  } catch (cause) {
    const message = `authenticate returned what is no principal: ${errorFields(cause).error}`
    throw new EngineError('invalid_configuration', { field: 'authenticate', message }, { cause })
  }
}
