/** What the holder of a token may learn before an answer: what is asked, and whether it is still open. */
import { APPROVAL_REASON, APPROVE, REJECT } from '../define/approval.ts'
import { EngineError } from '../../kernel/engine-error.ts'
import { SEPARATOR, WAITPOINT_PAGE_MAX, isMailbox } from '../../kernel/index.ts'
import type { Instant, ListedWaitpoint, Position } from '../../kernel/index.ts'
import type { Session } from '../session.ts'
import { isExecutionId } from '../transport/ids.ts'
import type { VerifiedToken } from '../tokens/token.ts'

export interface AskedByToken {
  readonly task: string
  readonly waitpoint: string
  /** Why it is asked, if the wait at it has begun: for a budget what is spent and what is asked for. */
  readonly reason: string | undefined
  /** The names of signals to choose from. None: any. */
  readonly names: readonly string[]
  /** The principal of the token. */
  readonly by: string | undefined
  readonly isOpen: boolean
  readonly expiresAt: Instant | undefined
}

/** Refuses a token as an answer does: `invalid_token` whether or not the waitpoint exists, `token_expired` after a reissue. */
export async function askedByToken(session: Session, token: string): Promise<AskedByToken> {
  const verified = (await session.tokens.confirm()).verify(token)
  const listed = await findWaitpoint(session, verified)
  if (listed === undefined) throw new EngineError('invalid_token')
  const { generation, createdAt, nonce } = listed.waitpoint
  if (generation !== verified.generation || createdAt !== verified.openedAt || nonce !== verified.nonce) {
    throw new EngineError('token_expired')
  }
  return {
    task: listed.task,
    waitpoint: isMailbox(verified.target) ? verified.target.slice(1) : verified.target,
    reason: listed.state === 'awaited' ? await reasonOf(session, verified.executionId, listed.step) : undefined,
    names: verified.names ?? choices(listed.names),
    by: verified.sub === '' ? undefined : verified.sub,
    isOpen: listed.state !== 'closed',
    expiresAt: listed.expiresAt,
  }
}

async function reasonOf(session: Session, executionId: string, step: string | undefined): Promise<string | undefined> {
  if (!isExecutionId(executionId)) return undefined
  const { result } = await session.run(executionId, 'describeExecution', { executionId })
  if (result.kind === 'refused') return undefined
  const { state } = result.execution
  if (state.phase !== 'suspended' || state.step.slice(state.step.indexOf(SEPARATOR) + 1) !== step) return undefined
  return state.reason === APPROVAL_REASON ? undefined : state.reason
}

/** The votes of an approval, with the positive one first. */
function choices(names: readonly string[]): readonly string[] {
  const isVote = names.length === 2 && names.includes(APPROVE) && names.includes(REJECT)
  return isVote ? [APPROVE, REJECT] : names
}

async function findWaitpoint(session: Session, token: VerifiedToken): Promise<ListedWaitpoint | undefined> {
  const { executionId, waitpointId } = token
  if (!isExecutionId(executionId)) return undefined
  const partition = Number(executionId.slice(0, executionId.indexOf('-')))
  if (partition >= session.settings.executionPartitions) return undefined
  let cursor: Position | undefined
  for (let page = 0; page < PAGES_MAX; page++) {
    const input = { executionId, all: true, limit: WAITPOINT_PAGE_MAX, cursor }
    const { result } = await session.run(executionId, 'listWaitpoints', input)
    if (result.kind === 'refused') return undefined
    const found = result.waitpoints.find(({ waitpoint }) => waitpoint.id === waitpointId)
    if (found !== undefined || result.cursor === undefined) return found
    cursor = result.cursor
  }
  return undefined
}

/** Pages of waitpoints that are examined. Few executions have more than one. */
const PAGES_MAX = 20
