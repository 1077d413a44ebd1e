/**
 * The client's calls as unions: what the kernel returned, refusals included. `fabric.try` is this; the throwing client
 * is derived from it.
 */
import type { CreateResult, SubmitFlowResult, WaitpointView } from '../kernel/index.ts'
import type { TokenOptions } from './define/context.ts'
import type { FlowDefinition } from './define/flow.ts'
import type { OmittedInput, Task } from './define/task.ts'
import { executionCalls, submitTask } from './executions/execution-calls.ts'
import type { StagedResult, StagedSubmitOptions } from './executions/staging.ts'
import type { SubmitOptions } from './executions/submit.ts'
import { flowCalls, submitFlow } from './flows/flow-calls.ts'
import type { FlowSubmitOptions } from './flows/flow-options.ts'
import { checkTokenOptions, journalCalls, tokenFor } from './journal/journal-calls.ts'
import { bind } from './session.ts'
import type { Bound, Session } from './session.ts'

const unionCalls = { ...executionCalls, ...flowCalls, ...journalCalls }

export interface Calls extends Bound<typeof unionCalls>, Pick<Session, 'namespace' | 'resolve' | 'resolveFlow'> {
  /** @internal */
  readonly run: Session['run']
  /** @internal */
  checkTokenOptions(options: TokenOptions): void
  /** @internal */
  tokenFor(idOrKey: string, waitpoint: WaitpointView, options: TokenOptions): string
  submit<Input, Parsed, Returned, Output, Inputs, Given>(
    task: Task<Input, Parsed, Returned, Output, Inputs, Given>,
    ...none: OmittedInput<NoInfer<Input>>
  ): Promise<CreateResult>
  submit<Input, Parsed, Returned, Output, Inputs, Given>(
    task: Task<Input, Parsed, Returned, Output, Inputs, Given>,
    input: Input,
    options: StagedSubmitOptions,
  ): Promise<StagedResult>
  submit<Input, Parsed, Returned, Output, Inputs, Given>(
    task: Task<Input, Parsed, Returned, Output, Inputs, Given>,
    input: Input,
    options?: SubmitOptions & { readonly tx?: never },
  ): Promise<CreateResult>
  submit<Input, Parsed, Returned, Output, Inputs, Given>(
    task: Task<Input, Parsed, Returned, Output, Inputs, Given>,
    input: Input,
    options?: SubmitOptions,
  ): Promise<CreateResult | StagedResult>
  submitFlow<Input, Output>(
    flow: FlowDefinition<Input, Output>,
    input: Input,
    options?: FlowSubmitOptions,
  ): Promise<SubmitFlowResult>
}

export function callsOf(session: Session): Calls {
  return {
    ...bind({ ...unionCalls, checkTokenOptions, tokenFor }, session),
    submit: submitTask.bind(undefined, session) as Calls['submit'],
    submitFlow: async (flow, input, options = {}) => (await submitFlow(session, flow, input, options)).result,
    namespace: session.namespace,
    resolve: (idOrKey) => session.resolve(idOrKey),
    resolveFlow: (idOrKey) => session.resolveFlow(idOrKey),
    run: (id, operation, input, blobs) => session.run(id, operation, input, blobs),
  }
}
