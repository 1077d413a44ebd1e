/**
 * What the values of each operation belong to. A sealed value contains it, so that it opens only where it was written: the result of
 * one execution is refused as that of another.
 */
import type { ExecutionId, FlowId, OperationInput, OperationName, OperationResult } from '../kernel/index.ts'
import type { BlobInput } from '../kernel/index.ts'

export interface Binding {
  readonly text: string
  /** Undefined if the record is not known when the value is sealed. */
  readonly owner: string | undefined
}

/** A value of a call: where it comes from, and what it is bound to. Undefined: it is stored as it is. */
export type BoundInput = readonly [blob: BlobInput | undefined, binding: Binding | undefined]
/** A value of an answer: its position among the blobs, what it may be bound to, and whether it is stored as it is by every program. */
export type BoundOutput = readonly [blob: number | undefined, allowed: readonly string[], isPlain?: boolean]

type CreateInput = OperationInput<'createExecution'>
type Claimed = Extract<OperationResult<'claimForWorker'>, { kind: 'claimed' }>['executions'][number]
type StepView = Extract<OperationResult<'readSteps'>, { kind: 'steps' }>['steps'][number]
type SignalView = Extract<OperationResult<'readSignals'>, { kind: 'signals' }>['signals'][number]

/** Tasks of FlowFabric itself are read by processes without a codec too. */
const OWN_TASKS = 'flowfabric.'
const isOwn = (task: string) => task.startsWith(OWN_TASKS)

const inputOf = (id: ExecutionId): Binding => ({ text: `execution ${id} input`, owner: id })
const resultOf = (id: ExecutionId): Binding => ({ text: `execution ${id} result`, owner: id })
const signalOf = (id: ExecutionId, name: string): Binding => ({ text: `execution ${id} signal ${name}`, owner: id })
const stepOf = (id: ExecutionId, kind: string, name: string): Binding => ({
  text: `execution ${id} step ${kind} ${name}`,
  owner: id,
})
const flowInputOf = (id: FlowId): Binding => ({ text: `flow ${id} input`, owner: id })
const framesOf = (id: ExecutionId, kind: 'frames' | 'log', attempt: number, count: number): Binding => ({
  text: `execution ${id} ${kind} ${attempt} ${count}`,
  owner: id,
})
const liveOf = (id: ExecutionId, attempt: number): Binding => ({ text: `execution ${id} live ${attempt}`, owner: id })
const summaryOf = (id: ExecutionId): Binding => ({ text: `execution ${id} summary`, owner: id })

/** An input whose execution is not known yet: that of a schedule, or of a submit that may change another execution. */
function templateOf(namespace: string, task: string): Binding {
  return { text: `task ${namespace} ${task} input`, owner: undefined }
}

/** The inputs of a follow-up wait in the record of their flow while no member exists, so the flow owns them. */
function created(create: CreateInput | undefined, flowId?: FlowId): BoundInput {
  if (create === undefined) return [undefined, undefined]
  const { executionId, namespace, task, payload, shaping, schedule } = create
  if (isOwn(task)) return [payload, undefined]
  const isKnown = shaping === undefined && schedule === undefined
  if (!isKnown) return [payload, templateOf(namespace, task)]
  return [payload, flowId === undefined ? inputOf(executionId) : { ...inputOf(executionId), owner: flowId }]
}

const inputs: { readonly [N in OperationName]?: (input: OperationInput<N>) => readonly BoundInput[] } = {
  createExecution: (input) => [created(input)],
  submitFlow: ({ input, flowId, nodes }) => [
    [input, flowInputOf(flowId)],
    ...nodes.map(({ create }) => created(create, flowId)),
  ],
  addExecutionToFlow: ({ create }) => [created(create)],
  startChildren: ({ children }) => children.map(({ create }) => created(create)),
  configureSchedule: ({ namespace, work, flow }) => [
    [work.payload, isOwn(work.task) ? undefined : templateOf(namespace, work.task)],
    [flow?.input, templateOf(namespace, work.task)],
    ...(flow?.nodes ?? []).map(({ create }): BoundInput => [create.payload, templateOf(namespace, create.task)]),
  ],
  deliverSignal: ({ executionId, name, payload }) => [[payload, signalOf(executionId, name)]],
  recordStep: ({ executionId, stepKind, name, outcome }) => [
    [outcome.kind === 'completed' ? outcome.value : undefined, stepOf(executionId, stepKind, name)],
  ],
  completeExecution: ({ executionId, result }) => [[result, resultOf(executionId)]],
  appendFrames: ({ executionId, fence, chunk, live, summary }) => [
    [chunk?.frames, framesOf(executionId, 'frames', fence.attempt, chunk?.count ?? 0)],
    [live?.frames, liveOf(executionId, fence.attempt)],
    [summary?.document, summaryOf(executionId)],
  ],
  appendLogLines: ({ executionId, fence, chunk }) => [
    [chunk.frames, framesOf(executionId, 'log', fence.attempt, chunk.count)],
  ],
}

/** The values of a call. */
export function boundInputs(operation: OperationName, input: unknown): readonly BoundInput[] {
  const rule = inputs[operation] as ((input: unknown) => readonly BoundInput[]) | undefined
  return rule?.(input) ?? []
}

function inputTexts(id: ExecutionId, namespace: string, task: string): readonly string[] {
  return [inputOf(id).text, templateOf(namespace, task).text]
}

function claimed(executions: readonly Claimed[]): readonly BoundOutput[] {
  return executions.flatMap((each): BoundOutput[] => {
    const { executionId, namespace, task, payloadBlob, inputs: upstreams, condition, flowId } = each
    const ofFlow = condition === undefined ? '' : templateOf(namespace, condition.flow).text
    return [
      [payloadBlob, inputTexts(executionId, namespace, task), isOwn(task)],
      ...upstreams.map(({ upstreamId, blob }): BoundOutput => [blob, [resultOf(upstreamId).text]]),
      [condition?.inputBlob, flowId === undefined ? [] : [flowInputOf(flowId).text, ofFlow]],
    ]
  })
}

function stepViews(executionId: ExecutionId, steps: readonly StepView[]): readonly BoundOutput[] {
  return steps.map(({ step, valueBlob }) => {
    const childId = step.child?.executionId
    const of = childId === undefined ? stepOf(executionId, step.kind, step.name) : resultOf(childId)
    return [valueBlob, [of.text]]
  })
}

function signalViews(signals: readonly SignalView[]): readonly BoundOutput[] {
  return signals.map(({ signal, payloadBlob }) => [payloadBlob, [signalOf(signal.executionId, signal.name).text]])
}

type Outputs = {
  readonly [N in OperationName]?: (result: OperationResult<N>, input: OperationInput<N>) => readonly BoundOutput[]
}

const outputs: Outputs = {
  claimForWorker: (result) => claimed(result.executions),
  completeExecution: (result) => (result.kind === 'refused' ? [] : claimed(result.next?.executions ?? [])),
  describeExecution: (result) => {
    if (result.kind !== 'described') return []
    const { id, namespace, task } = result.execution
    return [
      [result.payloadBlob, inputTexts(id, namespace, task), isOwn(task)],
      [result.resultBlob, [resultOf(id).text]],
    ]
  },
  readSteps: (result, { executionId }) => (result.kind === 'steps' ? stepViews(executionId, result.steps) : []),
  recordStep: (result, { executionId, stepKind, name }) =>
    result.kind === 'already_recorded' ? [[result.valueBlob, [stepOf(executionId, stepKind, name).text]]] : [],
  readSignals: (result) => (result.kind === 'signals' ? signalViews(result.signals) : []),
  takeSignals: (result) => (result.kind === 'refused' ? [] : signalViews(result.signals)),
  readInputs: (result) =>
    result.kind === 'read' ? result.page.inputs.map(({ upstreamId, blob }) => [blob, [resultOf(upstreamId).text]]) : [],
  readFrames: (result, { executionId }) => {
    if (result.kind !== 'frames') return []
    const { chunks, live, liveBlob, summaryBlob } = result
    return [
      ...chunks.map(({ chunk, framesBlob }): BoundOutput => [
        framesBlob,
        [framesOf(executionId, 'frames', chunk.attempt, chunk.count).text],
      ]),
      [liveBlob, live === undefined ? [] : [liveOf(executionId, live.attempt).text]],
      [summaryBlob, [summaryOf(executionId).text]],
    ]
  },
  readLogLines: (result, { executionId }) =>
    result.kind !== 'lines'
      ? []
      : result.chunks.map(({ chunk, framesBlob }): BoundOutput => [
          framesBlob,
          [framesOf(executionId, 'log', chunk.attempt, chunk.count).text],
        ]),
}

type OutputRule = (result: never, input: never) => readonly BoundOutput[]

/** The values of an answer. */
export function boundOutputs(operation: OperationName, result: unknown, input: unknown): readonly BoundOutput[] {
  const rule = (outputs as Readonly<Record<string, OutputRule | undefined>>)[operation]
  return rule?.(result as never, input as never) ?? []
}
