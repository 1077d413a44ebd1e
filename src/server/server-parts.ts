/** What the handlers of routes share. */
import type { AnyTask } from '../client/index.ts'
import type { Engine } from '../engine/engine.ts'
import type { Fabric } from '../fabric/index.ts'
import type { Log, Runtime } from '../runtime/index.ts'
import type { StoreGauges } from './metrics/store-gauges.ts'
import type { OperationPort } from './operations/port.ts'
import type { AuditTrail } from './auth/audit-trail.ts'
import type { Authenticator } from './auth/authenticator.ts'
import type { StreamLimits, Streams } from './live/streams.ts'

export interface ServerParts {
  readonly fabric: Fabric
  readonly runtime: Runtime
  readonly log: Log
  /** The engine that runs in this process, if there is one. */
  readonly engine: Engine | undefined
  readonly authenticator: Authenticator
  /** The contracts of tasks that the server knows, by name. */
  readonly tasks: ReadonlyMap<string, AnyTask>
  /** The path of the mount, without a slash at its end. */
  readonly basePath: string
  /** What operators did. */
  readonly trail: AuditTrail
  /** Runs operations for remote clients. */
  readonly port: OperationPort
  readonly streams: Streams
  /** The depth of lanes, the workers and the budgets, read from the store for metrics. */
  readonly gauges: StoreGauges
  readonly limits: StreamLimits
  /** Aborts when the server stops: waits and streams end. */
  readonly stopping: AbortSignal
  /** The OpenAPI document, as JSON. */
  readonly document: () => string
}
