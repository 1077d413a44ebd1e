/** All routes. A new resource is a file with its routes, and one line here. */
import type { AnyRoute } from '../routes/route.ts'
import { budgetRoutes } from './budgets.ts'
import { consumerRoutes } from './consumers.ts'
import { executionRoutes } from './executions.ts'
import { flowRoutes } from './flows.ts'
import { journalRoutes } from './journal.ts'
import { laneRoutes } from './lanes.ts'
import { eventRoutes } from './live-events.ts'
import { leaseRoutes } from './leases.ts'
import { limitRoutes } from './limits.ts'
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
  ...resultRoutes,
  ...journalRoutes,
  ...streamRoutes,
  ...flowRoutes,
  ...waitpointRoutes,
  ...laneRoutes,
  ...limitRoutes,
  ...budgetRoutes,
  ...scheduleRoutes,
  ...workerRoutes,
  ...leaseRoutes,
  ...eventRoutes,
  ...consumerRoutes,
  ...webhookRoutes,
  ...sessionRoutes,
  ...systemRoutes,
] as const satisfies readonly AnyRoute[]
