/** What a server measures of its requests. Paths are templates of routes, so they contain no ids. */
import type { Counter, Histogram } from '../../runtime/index.ts'

/** The path of requests that no route matches. */
export const UNKNOWN_PATH = 'unknown'

const METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])

export const requestsTotal: Counter<'method' | 'path' | 'status'> = {
  kind: 'counter',
  name: 'ff_http_requests_total',
  help: 'Requests to the HTTP API that were answered.',
  labels: ['method', 'path', 'status'],
}

export const requestSeconds: Histogram<'method' | 'path'> = {
  kind: 'histogram',
  name: 'ff_http_request_duration_seconds',
  help: 'Time to the head of the response. A long poll includes its wait.',
  labels: ['method', 'path'],
  buckets: [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10, 60],
}

export const auditFailures: Counter<'trail'> = {
  kind: 'counter',
  name: 'ff_audit_failures_total',
  help: 'Actions of operators that could not be recorded in the store, or in the trail of the host.',
  labels: ['trail'],
}

/** The label of a method. A caller may send any. */
export function methodLabel(method: string): string {
  return METHODS.has(method) ? method : 'OTHER'
}
