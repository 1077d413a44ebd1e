import { optionKeys } from '../checks/exhaustive.ts'
import type { Duration } from '../define/duration.ts'

export interface CancelOptions {
  readonly by?: string
  /** Ends a running execution now instead of requesting its worker to stop. */
  readonly force?: boolean
  /** How long its worker may take to stop. */
  readonly grace?: Duration
}

export const CANCEL_KEYS = optionKeys<CancelOptions>()(['by', 'force', 'grace'])
