/** What the handlers of routes share. */
import type { Engine } from '../engine/engine.ts'
import type { Fabric } from '../fabric/index.ts'
import type { Log, Runtime } from '../runtime/index.ts'
import type { StoreGauges } from './metrics/store-gauges.ts'
import type { Authenticator } from './auth/authenticator.ts'
import type { StreamLimits, Streams } from './live/streams.ts'

export interface ServerParts {
  readonly fabric: Fabric
  readonly runtime: Runtime
  readonly log: Log
  /** The engine that runs in this process, if there is one. */
  readonly engine: Engine | undefined
  readonly authenticator: Authenticator
  /** The path of the mount, without a slash at its end. */
  readonly basePath: string
  readonly streams: Streams
  /** The depth of lanes, the workers and the budgets, read from the store for metrics. */
  readonly gauges: StoreGauges
  readonly limits: StreamLimits
  /** Aborts when the server stops: waits and streams end. */
  readonly stopping: AbortSignal
  /** The OpenAPI document, as JSON. */
  readonly document: () => string
}
