/** Every scenario by its name. A new one is a file and an entry here; it is loaded only when it is run. */
import type { BenchStore } from '../bench-store.ts'
import type { OptionName } from '../options.ts'
import type { Scenario } from '../scenario.ts'

export interface ScenarioEntry {
  /** The stores that it can run on: the first one unless another is asked for. */
  readonly stores: readonly [BenchStore, ...BenchStore[]]
  /** The options that it takes besides those of every scenario. */
  readonly options?: readonly OptionName[]
  /** The stores on which it also runs peers, so that it needs their packages. */
  readonly peersOn?: readonly BenchStore[]
  readonly load: () => Promise<Scenario>
}

export const scenarios: Readonly<Record<string, ScenarioEntry>> = {
  lifecycle: {
    stores: ['sqlite', 'memory', 'valkey', 'valkey-cluster', 'postgres'],
    load: async () => (await import('./lifecycle.ts')).lifecycle,
  },
  peers: {
    stores: ['valkey', 'postgres'],
    options: ['delay'],
    peersOn: ['valkey', 'postgres'],
    load: async () => (await import('./peers.ts')).peers,
  },
  fleet: {
    stores: ['valkey'],
    options: ['processes', 'delayed', 'retry', 'delay'],
    peersOn: ['valkey'],
    load: async () => (await import('./fleet.ts')).fleet,
  },
  chain: {
    stores: ['valkey', 'postgres', 'sqlite', 'memory', 'valkey-cluster'],
    options: ['length', 'flows', 'delay'],
    peersOn: ['valkey', 'postgres'],
    load: async () => (await import('./chain.ts')).chain,
  },
  fanout: {
    stores: ['valkey', 'postgres', 'sqlite', 'memory', 'valkey-cluster'],
    options: ['width', 'processes'],
    load: async () => (await import('./fanout.ts')).fanout,
  },
  children: {
    stores: ['valkey', 'postgres', 'sqlite', 'memory', 'valkey-cluster'],
    options: ['n'],
    load: async () => (await import('./children.ts')).childrenOfHandlers,
  },
  routing: {
    stores: ['valkey', 'postgres', 'sqlite', 'memory', 'valkey-cluster'],
    load: async () => (await import('./routing.ts')).routing,
  },
  'quorum-cancel': {
    stores: ['valkey', 'postgres', 'sqlite', 'memory', 'valkey-cluster'],
    options: ['n'],
    load: async () => (await import('./quorum-cancel.ts')).quorumCancel,
  },
  'suspend-resume': {
    stores: ['valkey', 'postgres', 'sqlite', 'memory', 'valkey-cluster'],
    load: async () => (await import('./suspend-resume.ts')).suspendResume,
  },
  steps: {
    stores: ['valkey', 'postgres', 'sqlite', 'memory', 'valkey-cluster'],
    options: ['length'],
    load: async () => (await import('./steps.ts')).steps,
  },
  stream: {
    stores: ['valkey', 'sqlite', 'postgres', 'memory', 'valkey-cluster'],
    load: async () => (await import('./stream.ts')).stream,
  },
  fairness: {
    stores: ['memory', 'sqlite', 'valkey', 'postgres', 'valkey-cluster'],
    options: ['n'],
    load: async () => (await import('./fairness.ts')).fairness,
  },
  limits: {
    stores: ['memory', 'sqlite', 'valkey', 'postgres', 'valkey-cluster'],
    options: ['n'],
    load: async () => (await import('./limits.ts')).limits,
  },
  budgets: {
    stores: ['memory', 'sqlite', 'valkey', 'postgres', 'valkey-cluster'],
    options: ['n'],
    load: async () => (await import('./budgets.ts')).budgets,
  },
  ordered: {
    stores: ['memory', 'sqlite', 'valkey', 'postgres', 'valkey-cluster'],
    options: ['n'],
    load: async () => (await import('./ordered.ts')).ordered,
  },
  schedules: {
    stores: ['valkey', 'valkey-cluster', 'postgres', 'sqlite'],
    options: ['n'],
    load: async () => (await import('./schedules.ts')).schedules,
  },
  'open-streams': {
    stores: ['memory', 'sqlite', 'valkey', 'postgres', 'valkey-cluster'],
    load: async () => (await import('./open-streams.ts')).openStreams,
  },
  http: {
    stores: ['sqlite', 'memory', 'valkey', 'postgres', 'valkey-cluster'],
    load: async () => (await import('./http.ts')).http,
  },
  memory: {
    stores: ['valkey'],
    peersOn: ['valkey'],
    load: async () => (await import('./memory.ts')).memory,
  },
  longest: {
    stores: ['valkey'],
    load: async () => (await import('./longest.ts')).longestCalls,
  },
  idle: {
    stores: ['valkey', 'sqlite', 'postgres', 'valkey-cluster'],
    options: ['executions'],
    load: async () => (await import('./idle.ts')).idle,
  },
  bloat: {
    stores: ['postgres'],
    load: async () => (await import('./bloat.ts')).bloat,
  },
}
