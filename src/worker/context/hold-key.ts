/** `ctx.limited`: holds back a key of a limit for all workers, and postpones the execution until the key is free. */
import { checkKey, checkTaskName, invalidInput } from '../../client/checks/names.ts'
import { parseDuration } from '../../client/define/duration.ts'
import { PostponeError } from '../../client/define/errors.ts'
import { limitName } from '../../client/define/limit.ts'
import type { LimitDefinition, LimitedOptions } from '../../client/define/limit.ts'
import { LIMIT_HOLD_MAX_MS, storedKey } from '../../kernel/index.ts'
import { EngineError } from '../../kernel/engine-error.ts'
import { required, shape } from '../../options/shape.ts'
import { limitPartition } from '../../stores/partitions.ts'
import type { LeasedExecution } from '../lease/leased-execution.ts'
import type { DeskServices } from '../permits/permit-desk.ts'
import type { Permits } from '../permits/permits.ts'
import { retryUntilAnswered } from '../store/retry-until-answered.ts'

const limitedOptions = shape<LimitedOptions>()("{ retryAfter: '20s' }", {
  key: checkKey,
  retryAfter: required((value, field) => parseDuration(value, field)),
})

export interface HoldServices extends DeskServices {
  readonly permits: Pick<Permits, 'hold'>
}

/** Never resolves: throws what postpones the execution. */
export async function holdKey(
  leased: LeasedExecution,
  services: HoldServices,
  limit: LimitDefinition | string,
  options: LimitedOptions,
): Promise<never> {
  const name = checkTaskName(limitName(limit), 'limit')
  const { key: given, retryAfter } = limitedOptions(options)
  const { namespace } = leased.claimed
  const key = given === undefined ? ownKey(leased, name) : storedKey({ namespace, key: given })
  const retryAfterMs = Math.min(retryAfter, LIMIT_HOLD_MAX_MS)
  const partition = limitPartition(name, services.batcher.store.settings)
  const call = () => services.batcher.run(partition, 'holdLimit', { limit: name, key, retryAfterMs })
  const { result } = await retryUntilAnswered(services, { partition, refusal: leased.refusal }, call)
  if (result.kind === 'refused') throw new EngineError(result.code, result.detail)
  services.permits.hold(name, key, result.retryAfterMs)
  throw new PostponeError(result.retryAfterMs, `Limit '${name}' is held back for ${result.retryAfterMs} ms.`)
}

/** The key that the execution itself uses, unless it uses several. */
function ownKey({ claimed }: LeasedExecution, name: string): string {
  const own = claimed.limits.filter(({ limit }) => limit === name)
  if (own.length <= 1) return own[0]?.key ?? storedKey({ namespace: claimed.namespace, key: '' })
  throw invalidInput('key', `The execution uses limit '${name}' with ${own.length} keys: name the one to hold back.`)
}
