/** Serves the HTTP API of a fabric on a port, as `flowfabric server` and `flowfabric dev` do. */
import type { AnyTask } from '../../client/index.ts'
import type { Engine } from '../../engine/engine.ts'
import type { Fabric } from '../../fabric/index.ts'
import { invalidConfiguration } from '../../options/invalid-input.ts'
import { auditFile, checkAuditFile } from '../auth/audit-file.ts'
import { bearerToken } from '../auth/authenticator.ts'
import type { Authenticate } from '../auth/authenticator.ts'
import { TokenFile } from '../auth/token-file.ts'
import { createHandler } from '../handler.ts'
import { HOST_DEFAULT, isLoopback, serve } from './http-server.ts'
import type { HttpServer } from './http-server.ts'

export interface StartServerOptions {
  readonly host?: string
  readonly port?: number
  /** The file of tokens that requests need. */
  readonly tokensFile?: string
  /** True accepts requests without credentials on a public address too. */
  readonly isOpen?: boolean
  readonly cors?: readonly string[]
  /** Whether viewers get no values of users. */
  readonly redact?: boolean
  /** A file to which each action of an operator is appended. */
  readonly auditFile?: string
  readonly engine?: Engine
  /** The contracts of tasks that the server knows. */
  readonly tasks?: readonly AnyTask[]
}

export async function startServer(fabric: Fabric, options: StartServerOptions): Promise<HttpServer> {
  const {
    host = HOST_DEFAULT,
    port,
    tokensFile,
    isOpen = false,
    cors,
    redact,
    auditFile: file,
    engine,
    tasks,
  } = options
  const isLocal = isLoopback(host)
  if (tokensFile === undefined && !isLocal && !isOpen) {
    throw invalidConfiguration(
      'host',
      `Other machines reach ${host}, and requests would need no credentials. Pass a file of tokens with --tokens (see flowfabric tokens --help), listen on ${HOST_DEFAULT} behind a proxy, or accept this with --open.`,
    )
  }
  if (file !== undefined) await checkAuditFile(file)
  const authenticate = tokensFile === undefined ? undefined : byTokensOf(tokensFile, fabric)
  const isUnguarded = isLocal && authenticate === undefined
  const handler = createHandler(fabric, {
    ...(authenticate === undefined ? {} : { authenticate }),
    ...(cors === undefined ? {} : { cors }),
    ...(redact === undefined ? {} : { redact }),
    ...(file === undefined ? {} : { audit: auditFile(file) }),
    ...(engine === undefined ? {} : { engine }),
    ...(tasks === undefined ? {} : { tasks }),
    ...(isUnguarded ? { hosts: ['localhost', '127.0.0.1', '[::1]', host] } : {}),
  })
  return await serve({ handler, runtime: fabric.runtime, host, ...(port === undefined ? {} : { port }) })
}

function byTokensOf(file: string, { runtime, log }: Fabric): Authenticate {
  const tokens = new TokenFile(file, runtime, log)
  return (request) => {
    const token = bearerToken(request)
    return token === undefined ? undefined : tokens.principalOf(token)
  }
}
