/**
 * What an execution waits for that a person can answer: approvals, and signals whose schema is a form. A client shows them as
 * elicitations. Answers are ordinary signals, sent in the name of the person behind the client.
 */
import { createHash } from 'node:crypto'
import type { StandardSchemaV1 } from '@standard-schema/spec'
import { APPROVE, REJECT, fieldOf, formOf, jsonSchemaOf } from '../client/index.ts'
import type { AnyTask, ExecutionDescription, JsonSchema, WaitpointSummary } from '../client/index.ts'
import type { Fabric } from '../fabric/fabric.ts'

export interface Question {
  /** Names this one question in the life of the execution. The signal that answers it has the same key. */
  readonly key: string
  /** The waitpoint of an approval. Others may have answered there in the name of the same person. */
  readonly waitpoint: WaitpointSummary | undefined
  readonly message: string
  readonly form: JsonSchema
  /** Turns the response into a signal. Undefined if it is no answer. */
  readonly signalOf: (response: ElicitResponse) => AnswerSignal | undefined
}

export interface ElicitResponse {
  readonly action?: unknown
  readonly content?: Readonly<Record<string, unknown>>
}

interface AnswerSignal {
  readonly name: string
  readonly value?: unknown
  /** Where it is sent. The mailbox of its name unless given. */
  readonly waitpoint?: string
}

/** Whose answers these are, and to which task. */
export interface Asked {
  readonly fabric: Fabric
  readonly task: AnyTask
  readonly by: string
}

/** Returns the questions that an execution waits for, without those that were answered. */
export async function questionsOf(asked: Asked, execution: ExecutionDescription): Promise<readonly Question[]> {
  if (execution.state !== 'suspended') return []
  const questions = await allQuestionsOf(asked, execution)
  if (questions.length === 0 || execution.journal.signalCount === 0) return questions
  const isAnswered = await answersOf(asked, execution)
  return questions.filter((question) => !isAnswered(question))
}

async function allQuestionsOf({ fabric, task }: Asked, execution: ExecutionDescription): Promise<readonly Question[]> {
  switch (execution.suspension?.reason) {
    case 'approval': {
      const { items } = await fabric.waitpoints(execution.id)
      return items.filter(isApproval).map((waitpoint) => approvalQuestion(execution, waitpoint))
    }
    case 'signal': {
      const { explanation } = await fabric.why(execution.id)
      const counts = explanation.why === 'suspended' ? explanation.counts : []
      const question = signalQuestion(task, execution, counts[0]?.name)
      return question === undefined ? [] : [question]
    }
    default:
      return []
  }
}

/** A person votes once, whether here or elsewhere. Any other answer is known by its key. */
async function answersOf({ fabric, by }: Asked, { id }: ExecutionDescription): Promise<(one: Question) => boolean> {
  const keys = new Set<string>()
  const votes = new Map<string, number>()
  for await (const { key, waitpoint, by: sender, at } of fabric.signals(id)) {
    keys.add(key)
    if (waitpoint !== undefined && sender.identity === by) votes.set(waitpoint, at)
  }
  return ({ key, waitpoint }) => {
    return keys.has(key) || (waitpoint !== undefined && (votes.get(waitpoint.key) ?? -1) >= waitpoint.openedAt)
  }
}

/** Sends what was answered. Responses to other questions, or to questions that are answered, have no effect. */
export async function sendAnswers(
  asked: Asked,
  execution: ExecutionDescription,
  responses: Readonly<Record<string, unknown>>,
): Promise<void> {
  for (const { key, signalOf } of await questionsOf(asked, execution)) {
    if (!Object.hasOwn(responses, key)) continue
    const answer = signalOf(responses[key] as ElicitResponse)
    if (answer === undefined) continue
    const { name, value, waitpoint } = answer
    const options = { key, by: asked.by, ...(waitpoint === undefined ? {} : { waitpoint }) }
    await asked.fabric.execution(execution.id, asked.task).signal(name, value, options)
  }
}

function isApproval({ state, names }: WaitpointSummary): boolean {
  return state === 'awaited' && names.includes(APPROVE) && names.includes(REJECT)
}

function approvalQuestion(execution: ExecutionDescription, waitpoint: WaitpointSummary): Question {
  return {
    key: keyOf(execution, waitpoint.key),
    waitpoint,
    message: `${titleOf(execution)} waits for the approval '${waitpoint.step ?? waitpoint.key}'.${progressOf(execution)}`,
    form: {
      type: 'object',
      properties: {
        decision: { type: 'string', title: 'Decision', enum: [APPROVE, REJECT] },
        note: { type: 'string', title: 'Note' },
      },
      required: ['decision'],
    },
    signalOf: ({ action, content = {} }) => {
      const { decision, note } = content
      const value = typeof note === 'string' && note !== '' ? { note } : undefined
      if (action === 'decline') return { name: REJECT, waitpoint: waitpoint.key }
      if (action !== 'accept' || (decision !== APPROVE && decision !== REJECT)) return undefined
      return { name: decision, value, waitpoint: waitpoint.key }
    },
  }
}

/** The field of a form for a value that is no object. */
const VALUE = 'value'

function signalQuestion(
  task: AnyTask,
  execution: ExecutionDescription,
  name: string | undefined,
): Question | undefined {
  const schemas = task.signals as Readonly<Record<string, StandardSchemaV1 | undefined>>
  const schema = name === undefined ? undefined : jsonSchemaOf(schemas[name])
  if (name === undefined || schema === undefined) return undefined
  const form = formOf(schema)
  const field = form === undefined ? fieldOf(schema) : undefined
  if (form === undefined && field === undefined) return undefined
  return {
    key: keyOf(execution, name),
    waitpoint: undefined,
    message: `${titleOf(execution)} waits for '${name}'.${progressOf(execution)}`,
    form: form ?? { type: 'object', properties: { [VALUE]: field }, required: [VALUE] },
    signalOf: ({ action, content = {} }) =>
      action === 'accept' ? { name, value: form === undefined ? content[VALUE] : content } : undefined,
  }
}

function titleOf({ task, id }: ExecutionDescription): string {
  return `The task ${task} (${id})`
}

function progressOf({ progress }: ExecutionDescription): string {
  return progress?.message === undefined ? '' : ` Progress: ${progress.message}`
}

/** A step has its own name in an execution. A replay may run it again, and a submit may begin the execution again. */
function keyOf({ createdAt, replayCount, suspension }: ExecutionDescription, target: string): string {
  const digest = createHash('sha256').update(JSON.stringify([createdAt, replayCount, suspension?.step, target]))
  return `mcp:${digest.digest('hex').slice(0, 32)}`
}
