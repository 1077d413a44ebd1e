/** What must be true of the consumers of events, whatever was done to them. */
import type { PartitionDump } from '../../src/stores/store.ts'

export function consumerProblems({ records }: PartitionDump): string[] {
  const problems: string[] = []
  for (const record of records) {
    if (record.type !== 'consumer') continue
    const { name, members, shares, createdAt, changedAt, webhook } = record
    const ids = members.map(({ id }) => id)
    if (new Set(ids).size !== ids.length) problems.push(`consumer ${name} has a member twice`)
    if (ids.length > shares.length) problems.push(`consumer ${name} has more members than partitions`)
    if (shares.some(({ owner }) => owner !== undefined && !ids.includes(owner)))
      problems.push(`consumer ${name} has a partition of a process that is no member`)
    if (webhook?.secrets.length === 0 || webhook?.secrets[0]?.until !== undefined)
      problems.push(`webhook ${name} has no secret that signs`)
    if (changedAt < createdAt) problems.push(`consumer ${name} changed before it was created`)
  }
  return problems
}
