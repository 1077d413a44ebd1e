/** How far back costs are summed. The ledger is kept for 35 days. */
export const costRanges = ['1d', '7d', '30d'] as const
