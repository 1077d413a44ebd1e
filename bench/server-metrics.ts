/** What the servers of a store did for one execution, as metrics: medians over the rounds, in the terms of the servers. */
import type { ServerUse } from './server-watch.ts'
import { median, rounded } from './statistics.ts'
import { functionCalls } from './valkey-watch.ts'

export function serverMetrics(uses: readonly ServerUse[], count: number): Record<string, number> {
  const middle = <U extends ServerUse>(own: readonly U[], value: (use: U) => number) =>
    rounded(median(own.map(value)) / count)
  const valkey = uses.filter((use) => use.kind === 'valkey')
  const postgres = uses.filter((use) => use.kind === 'postgres')
  if (valkey.length > 0) {
    return {
      functionMicrosPerExecution: middle(valkey, (use) => functionCalls(use).micros),
      functionCallsPerExecution: middle(valkey, (use) => functionCalls(use).calls),
      serverCpuMicrosPerExecution: middle(valkey, ({ cpuMicros }) => cpuMicros),
    }
  }
  if (postgres.length === 0) return {}
  return {
    serverCpuMicrosPerExecution: middle(postgres, ({ cpuMicros }) => cpuMicros),
    commitsPerExecution: middle(postgres, ({ commits }) => commits),
    walBytesPerExecution: middle(postgres, ({ walBytes }) => walBytes),
  }
}
