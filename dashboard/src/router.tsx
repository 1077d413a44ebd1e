/** The addresses of the screens. Filters are part of the address, so that a view can be linked to and goes back with the browser. */
import { createRootRoute, createRoute, createRouter, lazyRouteComponent } from '@tanstack/react-router'
import { Failed } from './parts/views.tsx'
import { App } from './app.tsx'
import { executionStates, flowStates } from './api/types.ts'
import { ExecutionsPage } from './pages/executions.tsx'
import { OverviewPage } from './pages/overview.tsx'

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

const executionTabs = ['timeline', 'values', 'waits', 'frames', 'events'] as const
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

const schedulesRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/schedules',
  component: lazyRouteComponent(() => import('./pages/schedules.tsx'), 'SchedulesPage'),
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
  schedulesRoute,
  systemRoute,
])

export const router = createRouter({
  routeTree,
  basepath: new URL(document.baseURI).pathname.replace(/\/$/, ''),
  defaultPreload: 'intent',
  scrollRestoration: true,
  defaultErrorComponent: ({ error }) => <Failed error={error instanceof Error ? error : new Error(String(error))} />,
})

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router
  }
}
