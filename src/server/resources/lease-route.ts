/** What the routes of workers over HTTP have in common. */

export const LEASE_ERRORS = [
  'execution_not_found',
  'execution_not_active',
  'stale_lease',
  'lease_expired',
  'lease_revoked',
] as const

/** Of calls that begin something, while the execution is to undo its steps. */
export const UNWINDING_ERRORS = [
  'execution_failed',
  'execution_cancelled',
  'execution_expired',
  'execution_skipped',
] as const

export const reporting = { method: 'POST', tag: 'leases', access: 'worker', scope: 'namespace' } as const
