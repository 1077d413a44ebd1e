/** The addresses of the screens. Filters are part of the address, so that a view can be linked to and goes back with the browser. */
import { createRootRoute, createRoute, createRouter, lazyRouteComponent } from '@tanstack/react-router'
import { Failed, Loading } from './parts/views.tsx'
import { App } from './app.tsx'
import { executionStates, flowStates } from './api/types.ts'
import { ExecutionsPage } from './pages/executions.tsx'
import { OverviewPage } from './pages/overview.tsx'
import { costRanges } from './pages/costs/ranges.ts'
import { deliveryStates } from './pages/webhooks/delivery-states.ts'

type Search = Readonly<Record<string, unknown>>

/** A text of an address, whose values were typed or parsed. */
function text(value: unknown): string | undefined {
  if (typeof value === 'number' || typeof value === 'boolean') return String(value)
  return typeof value === 'string' && value !== '' ? value : undefined
}

function oneOf<const Word extends string>(words: readonly Word[], value: unknown): Word | undefined {
  return words.find((word) => word === value)
}

/** Leaves out what is absent, so that addresses stay short. */
function present<T extends object>(fields: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as ReturnType<
    typeof present<T>
  >
}

const executionTabs = ['timeline', 'values', 'waits', 'frames', 'logs', 'ledger', 'events'] as const
export type ExecutionTab = (typeof executionTabs)[number]

const rootRoute = createRootRoute({ component: App, notFoundComponent: NotFound })

const overviewRoute = createRoute({ getParentRoute: () => rootRoute, path: '/', component: OverviewPage })

const executionsRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/executions',
  component: ExecutionsPage,
  validateSearch: (search: Search) =>
    present({
      state: oneOf(executionStates, search['state']),
      lane: text(search['lane']),
      task: text(search['task']),
      tag: text(search['tag']),
      error: text(search['error']),
      keyPrefix: text(search['keyPrefix']),
      parent: text(search['parent']),
    }),
})

const executionRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/executions/$id',
  validateSearch: (search: Search) => present({ tab: oneOf(executionTabs, search['tab']) }),
  component: lazyRouteComponent(() => import('./pages/execution.tsx'), 'ExecutionPage'),
})

const flowsRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/flows',
  validateSearch: (search: Search) =>
    present({ state: oneOf(flowStates, search['state']), name: text(search['name']), tag: text(search['tag']) }),
  component: lazyRouteComponent(() => import('./pages/flows.tsx'), 'FlowsPage'),
})

const flowRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/flows/$id',
  component: lazyRouteComponent(() => import('./pages/flow.tsx'), 'FlowPage'),
})

const approvalsRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/approvals',
  component: lazyRouteComponent(() => import('./pages/approvals.tsx'), 'ApprovalsPage'),
})

const lanesRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/lanes',
  component: lazyRouteComponent(() => import('./pages/lanes.tsx'), 'LanesPage'),
})

const workersRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/workers',
  component: lazyRouteComponent(() => import('./pages/workers.tsx'), 'WorkersPage'),
})

const limitsRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/limits',
  component: lazyRouteComponent(() => import('./pages/limits.tsx'), 'LimitsPage'),
})

const budgetsRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/budgets',
  component: lazyRouteComponent(() => import('./pages/budgets.tsx'), 'BudgetsPage'),
})

const budgetRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/budgets/$name',
  validateSearch: (search: Search) => present({ key: text(search['key']) }),
  component: lazyRouteComponent(() => import('./pages/budget.tsx'), 'BudgetPage'),
})

const schedulesRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/schedules',
  component: lazyRouteComponent(() => import('./pages/schedules.tsx'), 'SchedulesPage'),
})

const consumersRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/consumers',
  component: lazyRouteComponent(() => import('./pages/consumers.tsx'), 'ConsumersPage'),
})

const consumerRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/consumers/$name',
  validateSearch: (search: Search) => present({ namespace: text(search['namespace']) }),
  component: lazyRouteComponent(() => import('./pages/consumer.tsx'), 'ConsumerPage'),
})

const webhooksRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/webhooks',
  component: lazyRouteComponent(() => import('./pages/webhooks.tsx'), 'WebhooksPage'),
})

const webhookRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/webhooks/$name',
  validateSearch: (search: Search) =>
    present({ namespace: text(search['namespace']), state: oneOf(deliveryStates, search['state']) }),
  component: lazyRouteComponent(() => import('./pages/webhook.tsx'), 'WebhookPage'),
})

const failuresRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/failures',
  validateSearch: (search: Search) =>
    present({ task: text(search['task']), lane: text(search['lane']), error: text(search['error']) }),
  component: lazyRouteComponent(() => import('./pages/failures.tsx'), 'FailuresPage'),
})

const costsRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/costs',
  validateSearch: (search: Search) =>
    present({
      budget: text(search['budget']),
      range: oneOf(costRanges, search['range']),
      unit: text(search['unit']),
    }),
  component: lazyRouteComponent(() => import('./pages/costs.tsx'), 'CostsPage'),
})

const keysRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/keys',
  component: lazyRouteComponent(() => import('./pages/keys.tsx'), 'KeysPage'),
})

const scannersRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/scanners',
  component: lazyRouteComponent(() => import('./pages/scanners.tsx'), 'ScannersPage'),
})

const auditRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/audit',
  validateSearch: (search: Search) =>
    present({ by: text(search['by']), action: text(search['action']), target: text(search['target']) }),
  component: lazyRouteComponent(() => import('./pages/audit.tsx'), 'AuditPage'),
})

const systemRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/system',
  component: lazyRouteComponent(() => import('./pages/system.tsx'), 'SystemPage'),
})

function NotFound() {
  return <Failed error={new Error('There is no page at this address.')} />
}

const routeTree = rootRoute.addChildren([
  overviewRoute,
  executionsRoute,
  executionRoute,
  flowsRoute,
  flowRoute,
  approvalsRoute,
  lanesRoute,
  workersRoute,
  limitsRoute,
  budgetsRoute,
  budgetRoute,
  schedulesRoute,
  consumersRoute,
  consumerRoute,
  webhooksRoute,
  webhookRoute,
  failuresRoute,
  costsRoute,
  keysRoute,
  scannersRoute,
  auditRoute,
  systemRoute,
])

export const router = createRouter({
  routeTree,
  basepath: new URL(document.baseURI).pathname.replace(/\/$/, ''),
  defaultPreload: 'intent',
  scrollRestoration: true,
  // A screen whose address was left is replaced at once: a dialog that is opened on it would be lost when the next one is loaded.
  defaultPendingComponent: () => <Loading />,
  defaultPendingMs: 0,
  defaultPendingMinMs: 0,
  defaultErrorComponent: ({ error }) => <Failed error={error instanceof Error ? error : new Error(String(error))} />,
})

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router
  }
}
