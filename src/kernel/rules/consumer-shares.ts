/**
 * Returns how many partitions a member reads at most. The quotas of all members add up to the partitions, and differ by one at most.
 * Earlier members get the larger ones. A member beyond the number of partitions reads none.
 */
export function shareQuota(partitionCount: number, memberCount: number, order: number): number {
  const least = Math.floor(partitionCount / memberCount)
  return order < partitionCount % memberCount ? least + 1 : least
}
