import type { Batcher } from '../../stores/batcher.ts'
import type { LeaseKeeper } from '../lease/lease-keeper.ts'
import type { RetryServices } from '../store/retry-until-answered.ts'

/** What the streams of a handler need of their worker. */
export interface StreamServices extends RetryServices {
  readonly batcher: Batcher
  readonly keeper: LeaseKeeper
}
