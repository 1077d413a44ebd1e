/** Finds out who sends a request: by a hook of the user or a file of tokens. Without either, every sender is the same. */
import { EngineError } from '../../kernel/engine-error.ts'
import { errorFields } from '../../runtime/index.ts'
import type { Log, Runtime } from '../../runtime/index.ts'
import { FailureCounts } from './failures.ts'
import { ANONYMOUS, checkedPrincipal } from './principal.ts'
import type { Principal } from './principal.ts'

/** Returns the sender of a request, or undefined to refuse it. */
export type Authenticate = (request: Request) => Principal | undefined | Promise<Principal | undefined>

const BEARER = /^Bearer ([A-Za-z0-9._~+/=-]{1,4096})$/i

/** Returns the token of the header `Authorization`. */
export function bearerToken(request: Request): string | undefined {
  return BEARER.exec(request.headers.get('authorization') ?? '')?.[1]
}

export class Authenticator {
  readonly #authenticate: Authenticate | undefined
  readonly #failures: FailureCounts
  readonly #log: Log

  constructor(authenticate: Authenticate | undefined, runtime: Runtime, log: Log) {
    this.#authenticate = authenticate
    this.#failures = new FailureCounts(runtime)
    this.#log = log
  }

  async principalOf(request: Request, address: string | undefined): Promise<Principal> {
    if (this.#authenticate === undefined) return ANONYMOUS
    if (this.#failures.isRefused(address)) throw new EngineError('too_many_failures')
    const principal = await this.#authenticate(request)
    if (principal !== undefined) return checked(principal)
    // A request without credentials is not an attempt to guess some.
    if (request.headers.has('authorization')) {
      this.#failures.add(address)
      this.#log.info({ address }, 'refused a request with invalid credentials')
    }
    throw new EngineError('unauthorized')
  }
}

function checked(principal: Principal): Principal {
  try {
    return checkedPrincipal(principal, 'principal')
  } catch (cause) {
    const message = `authenticate returned what is no principal: ${errorFields(cause).error}`
    throw new EngineError('invalid_configuration', { field: 'authenticate', message }, { cause })
  }
}
