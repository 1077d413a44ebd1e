import { boolean, shape } from '../../options/shape.ts'
import { checkPrincipal } from '../checks/names.ts'
import { parseDuration } from '../define/duration.ts'
import type { Duration } from '../define/duration.ts'

export interface CancelOptions {
  readonly by?: string
  /** Ends a running execution now instead of requesting its worker to stop. */
  readonly force?: boolean
  /** How long its worker may take to stop. */
  readonly grace?: Duration
}

export const cancelOptions = shape<CancelOptions>()("{ force: true, grace: '10s' }", {
  by: checkPrincipal,
  force: boolean,
  grace: parseDuration,
})
