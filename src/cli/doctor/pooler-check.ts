/** Reports a pooler in front of a Postgres server, with the settings that it needs. */
import type { PoolerReport } from '../../stores/open/find-pooler.ts'
import type { Finding } from './diagnosis.ts'

/** Returns no finding for a server that is reached directly. */
export function poolerFindings(report: PoolerReport): Finding[] {
  if (report.kind === 'none') return []
  const isShared = report.kind === 'shared'
  const what = isShared
    ? 'a pooler that shares connections between transactions is in front of the server'
    : 'a pooler is in front of the server, and it kept its connection during the check'
  const advice: string[] = []
  if (report.isPrepared) {
    advice.push('Add "prepare=false" to the location: prepared statements are missing on another connection.')
  }
  if (report.listensThere) {
    advice.push('Set postgres.listen to a location of the server itself, or to false: wake-ups do not arrive.')
  }
  if (!isShared || advice.length === 0) {
    const text = isShared ? `${what}, and the settings suit it` : `${what}: a pool in session mode needs no settings`
    return [{ check: 'pooler', verdict: 'ok', text, partitions: [] }]
  }
  return [{ check: 'pooler', verdict: 'warning', text: `${what}. ${advice.join(' ')}`, partitions: [] }]
}
