/** What a program imports from `flowfabric/server`. */
export { bearerToken, createHandler, metricsText, nodeListener, startServer } from './server/index.ts'
export type {
  Audit,
  AuditEntry,
  AuditPage,
  AuditQuery,
  Authenticate,
  HandlerOptions,
  HttpHandler,
  HttpServer,
  Principal,
  RequestOrigin,
  Role,
  StartServerOptions,
} from './server/index.ts'
