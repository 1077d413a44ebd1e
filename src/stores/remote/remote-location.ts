/** Parses the address of a FlowFabric server. */
import { EngineError } from '../../kernel/engine-error.ts'

export interface RemoteLocation {
  readonly kind: 'remote'
  /** Without credentials. */
  readonly url: string
  readonly isTls: boolean
  readonly host: string
  readonly port: number
  /** The path at which the handler is mounted, without a slash at its end. */
  readonly basePath: string
}

export const remoteForms = ['https://fabric.example.com']

const TLS_PORT = 443
const PLAIN_PORT = 80

/** `rest` follows the scheme and its colon. */
export function parseRemote(scheme: 'http' | 'https', rest: string): RemoteLocation {
  const url = URL.parse(`${scheme}:${rest}`)
  if (url === null || !rest.startsWith('//')) {
    throw invalid(`The address of a server has the form ${scheme}://host, with a port and a path if needed.`)
  }
  if (url.username !== '' || url.password !== '') {
    throw invalid('The address of a server has no user and password: pass a token instead.')
  }
  if (url.search !== '' || url.hash !== '') throw invalid('The address of a server has no query and no fragment.')
  const isTls = scheme === 'https'
  const basePath = url.pathname.replace(/\/+$/, '')
  return {
    kind: 'remote',
    url: url.origin + basePath,
    isTls,
    host: url.hostname.replace(/^\[|\]$/g, ''),
    port: url.port === '' ? (isTls ? TLS_PORT : PLAIN_PORT) : Number(url.port),
    basePath,
  }
}

function invalid(message: string): EngineError {
  return new EngineError('invalid_configuration', { field: 'location', message })
}
