/** All routes. A new resource is a file with its routes, and one line here. */
import type { AnyRoute } from '../routes/route.ts'
import { activityRoutes } from './activity.ts'
import { auditRoutes } from './audit.ts'
import { bulkRoutes } from './bulk.ts'
import { budgetRoutes } from './budgets.ts'
import { consumerRoutes } from './consumers.ts'
import { executionRoutes } from './executions.ts'
import { formRoutes } from './forms.ts'
import { flowGraphRoutes } from './flow-graphs.ts'
import { flowRoutes } from './flows.ts'
import { journalRoutes } from './journal.ts'
import { keyRoutes } from './keys.ts'
import { laneRoutes } from './lanes.ts'
import { eventRoutes } from './live-events.ts'
import { leaseRoutes } from './leases.ts'
import { leaseBudgetRoutes } from './lease-budgets.ts'
import { leaseLogRoutes } from './lease-logs.ts'
import { leaseMemberRoutes } from './lease-members.ts'
import { leaseUndoRoutes } from './lease-undo.ts'
import { leaseWaitRoutes } from './lease-waits.ts'
import { limitRoutes } from './limits.ts'
import { operationRoutes } from './operations.ts'
import { resultRoutes } from './results.ts'
import { scheduleRoutes } from './schedules.ts'
import { streamRoutes } from './streams.ts'
import { sessionRoutes } from './session.ts'
import { systemRoutes } from './system.ts'
import { waitpointRoutes } from './waitpoints.ts'
import { webhookRoutes } from './webhooks.ts'
import { workerRoutes } from './workers.ts'

export const api = [
  ...executionRoutes,
  ...activityRoutes,
  ...bulkRoutes,
  ...resultRoutes,
  ...journalRoutes,
  ...streamRoutes,
  ...flowRoutes,
  ...flowGraphRoutes,
  ...waitpointRoutes,
  ...formRoutes,
  ...laneRoutes,
  ...limitRoutes,
  ...budgetRoutes,
  ...scheduleRoutes,
  ...workerRoutes,
  ...leaseRoutes,
  ...leaseLogRoutes,
  ...leaseWaitRoutes,
  ...leaseMemberRoutes,
  ...leaseUndoRoutes,
  ...leaseBudgetRoutes,
  ...eventRoutes,
  ...consumerRoutes,
  ...webhookRoutes,
  ...keyRoutes,
  ...auditRoutes,
  ...sessionRoutes,
  ...operationRoutes,
  ...systemRoutes,
] as const satisfies readonly AnyRoute[]
