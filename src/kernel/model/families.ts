/** The families of partitions. An operation runs in one partition, so records that change together live in one family. */

/**
 * - `fp`: executions, flows and their journals.
 * - `q`: limits and budgets. The name of a limit, and of the root of a budget, determines the partition.
 * - `m`: what concerns the store as a whole, such as the registry of workers. It has one partition.
 */
export type PartitionFamily = 'fp' | 'q' | 'm'
