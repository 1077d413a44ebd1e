/** Numbers that follow from what a stage took. */
import type { Effort } from './stages.ts'
import { median, rounded } from './statistics.ts'

const MICROS_PER_SECOND = 1_000_000

/** Of client and server together. Close to one, they did not run in parallel, and the rate means little for either. */
export function coresUsed(effort: Effort, count: number): number {
  return busyShare(effort, effort.clientMicros + serverMicros(effort, count))
}

/** CPU seconds of the busier of client and server in one second. All threads count, so it may exceed one. */
export function busierShare(effort: Effort, count: number): number {
  return busyShare(effort, Math.max(effort.clientMicros, serverMicros(effort, count)))
}

/** CPU seconds of the servers in one second. */
export function serverBusyShare(effort: Effort, count: number): number {
  return busyShare(effort, serverMicros(effort, count))
}

/** CPU time of the servers for one piece of work. */
export function serverMicros({ servers }: Effort, count: number): number {
  return servers.cpuMicros / count
}

/** Bytes between clients and a Valkey server for one piece of work, both ways; undefined on other stores. */
export function wireBytes({ servers }: Effort, count: number): number | undefined {
  return servers.kind === 'valkey' ? (servers.bytesIn + servers.bytesOut) / count : undefined
}

/** Metrics of the way to a Valkey server: bytes for one piece of work, and the delay that a proxy added in fact. */
export function wireMetrics(efforts: readonly Effort[], count: number): Record<string, number> {
  const bytes = efforts.flatMap((effort) => wireBytes(effort, count) ?? [])
  const delays = efforts.flatMap(({ servers }) => (servers.kind === 'valkey' ? (servers.addedDelayMs ?? []) : []))
  return {
    ...(bytes.length > 0 && { wireBytes: Math.round(median(bytes)) }),
    ...(delays.length > 0 && { addedDelayMs: rounded(median(delays)) }),
  }
}

function busyShare({ perSecond }: Effort, micros: number): number {
  return (micros * perSecond) / MICROS_PER_SECOND
}
