/** What a worker measures. Tasks and lanes are names from code, so their number is small. */
import type { Counter, Histogram } from '../../runtime/index.ts'

export const attemptsStarted: Counter<'task' | 'lane'> = {
  kind: 'counter',
  name: 'ff_attempts_started_total',
  help: 'Handlers that started, also those that continue after a wait.',
  labels: ['task', 'lane'],
}

export const attemptsEnded: Counter<'task' | 'lane' | 'outcome'> = {
  kind: 'counter',
  name: 'ff_attempts_ended_total',
  help: 'Runs of handlers that ended, by what was recorded. lost and left were not recorded.',
  labels: ['task', 'lane', 'outcome'],
}

export const startLatency: Histogram<'lane'> = {
  kind: 'histogram',
  name: 'ff_attempt_start_latency_seconds',
  help: 'From the moment when an execution was ready to the start of its handler.',
  labels: ['lane'],
  buckets: [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10, 60, 600, 3_600],
}

export const attemptSeconds: Histogram<'task'> = {
  kind: 'histogram',
  name: 'ff_attempt_duration_seconds',
  help: 'How long a handler ran, until it ended or waited.',
  labels: ['task'],
  buckets: [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10, 60, 600, 3_600],
}

export const leasesLost: Counter<'code'> = {
  kind: 'counter',
  name: 'ff_leases_lost_total',
  help: 'Leases that a worker lost, by the code that its handler gets. Members that their flow has ended are among them.',
  labels: ['code'],
}

export const leaseRenewals: Counter<'result'> = {
  kind: 'counter',
  name: 'ff_lease_renewals_total',
  help: 'Renewals of leases, by result: renewed, refused, or unanswered.',
  labels: ['result'],
}
