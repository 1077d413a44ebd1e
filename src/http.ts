/** What a program imports from `flowfabric/http`: a client for browsers, edge runtimes and other programs without a store. */
export { connect } from './http/http-client.ts'
export type { HttpClient } from './http/http-client.ts'
export type { ConnectOptions } from './http/transport.ts'
export type { EventMessage } from './http/event-source.ts'
export { EngineError } from './kernel/engine-error.ts'
export { ExecutionEndedError } from './client/define/errors.ts'
