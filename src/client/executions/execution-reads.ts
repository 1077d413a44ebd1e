/** Descriptions and explanations of executions as the client returns them. Refusals are thrown. */
import { isBudgetId, nameInBudgetId, rootInId } from '../../kernel/index.ts'
import { EngineError } from '../../kernel/engine-error.ts'
import type { ExecutionId, Explanation } from '../../kernel/index.ts'
import { limitPartition } from '../../stores/partitions.ts'
import { decodeShown } from '../checks/payload.ts'
import type { BlockingBudget, BlockingLimit } from '../limits/limit-text.ts'
import type { Session } from '../session.ts'
import { unwrap } from '../transport/unwrap.ts'
import { describe, summarise } from './description.ts'
import type { ExecutionDescription } from './description.ts'
import { inputValue } from '../define/upstream-outcome.ts'
import { describeExecution, explainExecution, readInputs } from './execution-calls.ts'
import type { DescribedParts } from './execution-calls.ts'
import { servingWorkers } from '../workers/serving-workers.ts'
import type { ServingWorkers } from '../workers/serving-workers.ts'
import { explanationText, unwindingText } from './explanation-text.ts'
import type { SkippedBy } from './explanation-text.ts'

const ALL_PARTS: DescribedParts = { attempts: true, payload: true, result: true }

export async function readDescription(
  session: Session,
  idOrKey: string,
  parts: DescribedParts = ALL_PARTS,
): Promise<ExecutionDescription> {
  const reply = await describeExecution(session, idOrKey, parts)
  const inputs = parts.inputs === true ? await readUpstreamResults(session, idOrKey) : undefined
  return describe(unwrap(reply.result), reply.blobs, inputs)
}

/** Reads all results that upstreams passed to a member, by name, page by page. */
async function readUpstreamResults(session: Session, idOrKey: string): Promise<Readonly<Record<string, unknown>>> {
  const values: [string, unknown][] = []
  let from: ExecutionId | undefined
  do {
    const { result, blobs } = await readInputs(session, idOrKey, from)
    const { page } = unwrap(result)
    for (const { name, result: info, blob, end } of page.inputs) {
      values.push([name, inputValue(end, () => decodeShown(info, blobs[blob ?? -1]))])
    }
    from = page.from
  } while (from !== undefined)
  return Object.fromEntries(values)
}

export async function readExplanation(
  session: Session,
  idOrKey: string,
): Promise<{ readonly explanation: Explanation; readonly text: string }> {
  const { explanation, unwinding } = unwrap(await explainExecution(session, idOrKey))
  const context = {
    skippedBy: await skippedBy(session, explanation),
    workers: await workersFor(session, explanation),
    limit: await blockingLimit(session, explanation).catch(unlessForbidden),
  }
  const text = explanationText(explanation, context)
  return {
    explanation: withBudgetName(explanation),
    text: unwinding === undefined ? text : `${unwindingText(unwinding)} ${text}`,
  }
}

/** Names a budget as it is defined, instead of by its id. */
function withBudgetName(explanation: Explanation): Explanation {
  if (explanation.why !== 'blocked' || explanation.limit === undefined || !isBudgetId(explanation.limit.limit)) {
    return explanation
  }
  return { ...explanation, limit: { ...explanation.limit, limit: nameInBudgetId(explanation.limit.limit) } }
}

/** The live workers that serve an execution which waits for one. */
async function workersFor(session: Session, explanation: Explanation): Promise<ServingWorkers | undefined> {
  return explanation.why === 'waits_for_worker' ? await servingWorkers(session, explanation) : undefined
}

/** The limit or the budget that blocks an execution, with the usage of its key. */
async function blockingLimit(
  session: Session,
  explanation: Explanation,
): Promise<BlockingLimit | BlockingBudget | undefined> {
  if (explanation.why !== 'blocked' || explanation.limit === undefined) return undefined
  const { limit: name, key } = explanation.limit
  const partition = limitPartition(name, session.settings)
  if (isBudgetId(name)) {
    const place = { root: rootInId(name), name: nameInBudgetId(name) }
    const described = (await session.runIn(partition, 'describeBudget', { ...place, key, limit: 1 })).result
    if (described.kind === 'refused') return undefined
    return { budget: described.budget, account: described.accounts[0], at: described.at }
  }
  const { result } = await session.runIn(partition, 'describeLimit', { name, key, limit: 1 })
  if (result.kind === 'refused') return undefined
  return { limit: result.limit, usage: result.keys[0], at: result.at }
}

/** A program over HTTP whose token is bound to a namespace gets no details of what all namespaces share. */
function unlessForbidden(error: unknown): undefined {
  if (error instanceof EngineError && error.code === 'forbidden') return undefined
  throw error
}

/** The upstream because of which an execution was skipped, unless it has been removed since. */
async function skippedBy(session: Session, explanation: Explanation): Promise<SkippedBy | undefined> {
  if (explanation.why !== 'ended' || explanation.outcome !== 'skipped' || explanation.by === undefined) return undefined
  const { result } = await describeExecution(session, explanation.by)
  return result.kind === 'refused' ? undefined : summarise(result.execution)
}
