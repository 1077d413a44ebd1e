/** Cancels a flow, and optionally waits until it has settled. */
import type { FlowId } from '../../kernel/index.ts'
import { sleep } from '../../runtime/index.ts'
import { EngineError } from '../../kernel/engine-error.ts'
import { unwrap } from '../transport/unwrap.ts'
import type { Session } from '../session.ts'
import { parseDuration } from '../define/duration.ts'
import { cancelFlow, describeFlow, listFlowMembers } from './flow-calls.ts'
import type { FlowCancelled, FlowHandleCancelOptions } from './flow-handle.ts'
import { invalidInput } from '../checks/names.ts'

/** The default limit of a wait. */
const WAIT_MS = 300_000
/** The first poll interval; it doubles with each poll, up to a limit. */
const FIRST_PAUSE_MS = 10
const PAUSE_MAX_MS = 500

export async function cancelFlowAndWait(
  session: Session,
  flowId: FlowId,
  reason: string,
  options: FlowHandleCancelOptions,
): Promise<FlowCancelled> {
  const { wait = false, ...rest } = options
  const waitMs = waitOf(wait)
  const cancelled = unwrap(await cancelFlow(session, flowId, reason, rest))
  return waitMs === undefined ? cancelled : await untilSettled(session, flowId, cancelled, waitMs)
}

function waitOf(wait: unknown): number | undefined {
  if (wait === false) return undefined
  if (wait === true) return WAIT_MS
  if (typeof wait !== 'string' && typeof wait !== 'number') {
    throw invalidInput('wait', "wait must be true, or how long to wait at most, such as '10s'.")
  }
  return parseDuration(wait, 'wait')
}

async function untilSettled(
  session: Session,
  flowId: FlowId,
  cancelled: FlowCancelled,
  waitMs: number,
): Promise<FlowCancelled> {
  const { runtime } = session
  const giveUpAt = runtime.monotonic() + waitMs
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(PAUSE_MAX_MS, 2 * pauseMs)) {
    const { view } = unwrap(await describeFlow(session, flowId))
    const isUnderWay = view.flow.walk?.purpose === 'cancel'
    // With other policies running members may finish, and are not waited for.
    const isDone = cancelled.policy === 'cancel_all' ? view.settled : !isUnderWay
    // Its follow-up has begun, so the cancelled run has settled.
    if (view.flow.state.phase !== 'cancelled') return { ...cancelled, settled: true, liveCount: 0 }
    const { settled, liveCount } = view
    if (isDone) return { ...cancelled, settled, liveCount }
    const leftMs = giveUpAt - runtime.monotonic()
    if (leftMs <= 0) throw await notSettledError(session, flowId, liveCount)
    // Without an engine, the waiting client does the work itself.
    if (isUnderWay) await session.run(flowId, 'reconcileFlowCancels', {})
    else await sleep(runtime, Math.min(pauseMs, leftMs))
  }
}

async function notSettledError(session: Session, flowId: FlowId, liveCount: number): Promise<EngineError> {
  const page = unwrap(await listFlowMembers(session, flowId))
  const nodes = page.members
    .filter(({ execution }) => execution.state.phase !== 'ended')
    .slice(0, NAMED_MAX)
    .map(({ execution }) => execution.member?.name ?? execution.id)
  const named = nodes.length === 0 ? '' : `, among them ${nodes.map((node) => `'${node}'`).join(', ')}`
  return new EngineError('flow_not_settled', { flowId, nodes, message: `${liveCount} are left${named}.` })
}

/** Members named in the error. */
const NAMED_MAX = 5
