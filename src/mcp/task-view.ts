/** An execution as a task of the protocol. Everything is read from the store, so any process that serves the tools can answer. */
import type { JSONObject } from '@modelcontextprotocol/server'
import type { ExecutionDescription, Summary } from '../client/index.ts'
import { EngineError } from '../kernel/engine-error.ts'
import { callResult } from './call-result.ts'
import { questionsOf } from './questions.ts'
import type { Asked, Question } from './questions.ts'

/** How often a client should ask: less often about an execution that has not changed for a while. */
const POLL_MS = 1_000
const POLL_UNCHANGED_MS = 5_000
const UNCHANGED_AFTER_MS = 60_000

/** The key of the live summary in the metadata of a task. */
const SUMMARY_KEY = 'flowfabric/summary'
const SUMMARY_TEXT_MAX = 1_000

/** The fields of a task in every status. */
export interface TaskFields {
  readonly taskId: string
  readonly createdAt: string
  readonly lastUpdatedAt: string
  readonly ttlMs: number | null
  readonly pollIntervalMs: number
}

export function taskFields(execution: ExecutionDescription): TaskFields {
  const { id, createdAt, changedAt, progress, purgeAt, at } = execution
  const updatedAt = Math.max(changedAt, progress?.at ?? 0)
  return {
    taskId: id,
    createdAt: new Date(createdAt).toISOString(),
    lastUpdatedAt: new Date(updatedAt).toISOString(),
    ttlMs: purgeAt === undefined ? null : purgeAt - createdAt,
    pollIntervalMs: at - updatedAt < UNCHANGED_AFTER_MS ? POLL_MS : POLL_UNCHANGED_MS,
  }
}

/** Describes an execution for `tasks/get`. A client that cannot ask a person sees no questions. */
export async function detailedTask(
  asked: Asked,
  execution: ExecutionDescription,
  canElicit: boolean,
): Promise<Record<string, unknown>> {
  const fields = taskFields(execution)
  if (execution.outcome === 'cancelled') {
    return { ...fields, status: 'cancelled', statusMessage: execution.reason ?? 'cancelled' }
  }
  if (execution.outcome !== undefined) {
    // It is a whole result of a call, so it carries its type.
    return { ...fields, status: 'completed', result: { ...callResult(execution), resultType: 'complete' } }
  }
  const summary = await summaryOf(asked, execution)
  const status = {
    ...fields,
    statusMessage: await statusText(asked, execution, summary),
    ...(summary === undefined ? {} : { _meta: { [SUMMARY_KEY]: summary.document } }),
  }
  const questions = canElicit ? await questionsOf(asked, execution) : []
  if (questions.length === 0) return { ...status, status: 'working' }
  return { ...status, status: 'input_required', inputRequests: inputRequests(questions) }
}

/** The questions as requests of the protocol, by their keys. */
export function inputRequests(questions: readonly Question[]): Record<string, JSONObject> {
  return Object.fromEntries(
    questions.map(({ key, message, form }) => [
      key,
      { method: 'elicitation/create', params: { mode: 'form', message, requestedSchema: form as JSONObject } },
    ]),
  )
}

export async function summaryOf({ fabric }: Asked, { id }: ExecutionDescription): Promise<Summary | undefined> {
  try {
    return await fabric.execution(id).summary()
  } catch (error) {
    if (error instanceof EngineError && error.code === 'level_too_low') return undefined
    throw error
  }
}

/** What it is doing: the progress that its handler reports, else its summary, else why it is not running. */
export async function statusText(
  { fabric }: Asked,
  { id, state, progress }: ExecutionDescription,
  summary: Summary | undefined,
): Promise<string> {
  if (state === 'active') {
    const percent = progress?.percent === undefined ? '' : `${progress.percent} % `
    const reported = `${percent}${progress?.message ?? ''}`.trim()
    if (reported !== '') return reported
    if (summary !== undefined) return JSON.stringify(summary.document).slice(0, SUMMARY_TEXT_MAX)
    return 'The handler runs.'
  }
  return (await fabric.why(id)).text
}
