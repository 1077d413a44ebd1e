/**
 * Serves tasks as tools of the Model Context Protocol. A call submits an execution. A client with the Tasks extension gets a task at
 * once, which any process that serves the same store can answer for; another client waits, within a limit, and can continue to wait
 * with another tool. All state is in the store: the server can be killed and started again at any time.
 */
import type * as Sdk from '@modelcontextprotocol/server'
import type { CallToolResult, InputRequiredResult, ServerContext, Tool } from '@modelcontextprotocol/server'
import { z } from 'zod'
import type { ExecutionDescription } from '../client/index.ts'
import type { Fabric } from '../fabric/fabric.ts'
import { EngineError } from '../kernel/engine-error.ts'
import { errorCatalogue } from '../kernel/errors.ts'
import { packageVersion } from '../runtime/index.ts'
import type { Runtime } from '../runtime/index.ts'
import { awaitExecution } from './await-call.ts'
import type { Awaited } from './await-call.ts'
import { callResult, errorResult } from './call-result.ts'
import { sendAnswers } from './questions.ts'
import type { Asked } from './questions.ts'
import type { TaskTool } from './task-tools.ts'
import { detailedTask, inputRequests, taskFields } from './task-view.ts'

const TASKS_EXTENSION = 'io.modelcontextprotocol/tasks'

/** Tools for clients without the Tasks extension. */
const WAIT_TOOL = 'flowfabric_wait'
const CANCEL_TOOL = 'flowfabric_cancel'

/** The key of a call's own id, in its metadata: a call that is sent again joins the execution of the first. */
const ID_KEY = 'flowfabric/id'

export interface McpOptions {
  readonly tools: ReadonlyMap<string, TaskTool>
  readonly fabric: Fabric
  readonly runtime: Runtime
  /** In whose name questions are answered. */
  readonly by: string
  /** How long a call of a client without tasks waits. */
  readonly waitMs: number
}

interface ClientAbilities {
  readonly hasTasks: boolean
  readonly canElicit: boolean
}

/** McpServer takes schemas of a library, but the tools have JSON schemas, and it knows no tasks. */
// eslint-disable-next-line @typescript-eslint/no-deprecated -- the class is meant for this: servers that need its protocol level
type LowLevelServer = Sdk.Server

/** Returns a server for one connection. `sdk` is the module of the official SDK, which only this command loads. */
export function mcpServer(sdk: typeof Sdk, options: McpOptions): LowLevelServer {
  return new McpEndpoint(sdk, options).server
}

class McpEndpoint {
  readonly server: LowLevelServer
  readonly #sdk: typeof Sdk
  readonly #options: McpOptions

  constructor(sdk: typeof Sdk, options: McpOptions) {
    this.#sdk = sdk
    this.#options = options
    const capabilities = { tools: {}, extensions: { [TASKS_EXTENSION]: {} } }
    // eslint-disable-next-line @typescript-eslint/no-deprecated -- see LowLevelServer
    this.server = new sdk.Server({ name: 'flowfabric', version: packageVersion() }, { capabilities })
    this.server.setRequestHandler('tools/list', (_request, context) => ({ tools: this.#list(context) }))
    this.server.setRequestHandler('tools/call', async ({ params }, context) => {
      return await this.#call(params.name, params.arguments ?? {}, context)
    })
    this.#handle('tasks/get', async (execution, asked, { canElicit }) => {
      return await detailedTask(asked, execution, canElicit)
    })
    this.#handle('tasks/update', async (execution, asked, _abilities, context) => {
      await this.#answer(asked, execution, context.mcpReq.inputResponses ?? {})
      return {}
    })
    this.#handle('tasks/cancel', async (execution) => {
      await this.#cancel(execution)
      return {}
    })
  }

  #list(context: ServerContext): Tool[] {
    const tools = [...this.#options.tools.values()].map(({ name, task, description, inputSchema }) => ({
      name,
      title: task.name,
      description,
      inputSchema,
    }))
    return this.#abilities(context).hasTasks ? tools : [...tools, ...waitingTools]
  }

  async #call(
    name: string,
    given: Readonly<Record<string, unknown>>,
    context: ServerContext,
  ): Promise<CallToolResult | InputRequiredResult> {
    if (name === WAIT_TOOL) return await this.#waitFor(String(given['execution']), context)
    if (name === CANCEL_TOOL) return await this.#cancelByTool(String(given['execution']))
    const tool = this.#options.tools.get(name)
    if (tool === undefined) throw this.#invalidParams(`There is no tool '${name}'.`)
    // A client that was asked something repeats its call, with the execution and the answers.
    const continued = context.mcpReq.requestState<string>()
    if (typeof continued === 'string') return await this.#waitFor(continued, context)
    let id: string
    try {
      id = await this.#submit(tool, given, context)
    } catch (error) {
      if (isOfCaller(error)) return errorResult(error.message)
      throw error
    }
    const { hasTasks } = this.#abilities(context)
    return hasTasks ? await this.#created(id) : await this.#waitFor(id, context)
  }

  async #submit(tool: TaskTool, given: Readonly<Record<string, unknown>>, context: ServerContext): Promise<string> {
    const key: unknown = context.mcpReq._meta?.[ID_KEY]
    const options = typeof key === 'string' ? { id: key } : {}
    return (await this.#options.fabric.submit(tool.task, tool.inputOf(given), options)).id
  }

  /** The execution is stored by now, so a client may ask for the task at once. */
  async #created(id: string): Promise<CallToolResult> {
    const execution = await this.#options.fabric.describe(id, {})
    return { ...taskFields(execution), resultType: 'task', status: 'working' } as unknown as CallToolResult
  }

  async #waitFor(id: string, context: ServerContext): Promise<CallToolResult | InputRequiredResult> {
    const found = await this.#find(id)
    if (found === undefined) return errorResult(`There is no execution ${id} of these tools.`)
    const { asked, execution } = found
    const { runtime, waitMs } = this.#options
    const answers = context.mcpReq.inputResponses
    if (answers !== undefined) await this.#answer(asked, execution, answers)
    const awaited = await awaitExecution(asked, execution.id, {
      runtime,
      limitMs: waitMs,
      signal: context.mcpReq.signal,
      canElicit: this.#abilities(context).canElicit,
      onProgress: progressOf(context),
    })
    return this.#outcomeOf(awaited, execution.id)
  }

  #outcomeOf(awaited: Awaited, id: string): CallToolResult | InputRequiredResult {
    switch (awaited.kind) {
      case 'ended':
        return callResult(awaited.execution)
      case 'asks':
        return this.#sdk.inputRequired({
          inputRequests: inputRequests(awaited.questions) as Sdk.InputRequests,
          requestState: id,
        })
      case 'continues':
        return { content: [{ type: 'text', text: continuesText(id, awaited.text) }] }
    }
  }

  async #answer(asked: Asked, execution: ExecutionDescription, responses: Readonly<Record<string, unknown>>) {
    try {
      await sendAnswers(asked, execution, responses)
    } catch (error) {
      if (isOfCaller(error)) throw this.#invalidParams(error.message)
      throw error
    }
  }

  async #cancelByTool(id: string): Promise<CallToolResult> {
    const found = await this.#find(id)
    if (found === undefined) return errorResult(`There is no execution ${id} of these tools.`)
    return { content: [{ type: 'text', text: await this.#cancel(found.execution) }] }
  }

  async #cancel({ id }: ExecutionDescription): Promise<string> {
    const { fabric, by } = this.#options
    try {
      return await fabric.cancel(id, 'cancelled over MCP', { by })
    } catch (error) {
      // A task that has ended acknowledges a cancel, too.
      if (error instanceof EngineError && error.code === 'execution_ended') return error.message
      throw error
    }
  }

  /** Registers a method of the Tasks extension. */
  #handle(
    method: string,
    answer: (
      execution: ExecutionDescription,
      asked: Asked,
      abilities: ClientAbilities,
      context: ServerContext,
    ) => Promise<Record<string, unknown>>,
  ): void {
    const params = z.looseObject({ taskId: z.string() })
    this.server.setRequestHandler(method, { params }, async ({ taskId }, context) => {
      const abilities = this.#abilities(context)
      if (!abilities.hasTasks) throw this.#missingTasks()
      const found = await this.#find(taskId)
      if (found === undefined) throw this.#invalidParams(`There is no task ${taskId}.`)
      return await answer(found.execution, found.asked, abilities, context)
    })
  }

  /** Finds an execution of one of the tools. Others are not visible, whatever is in the store. */
  async #find(id: string): Promise<{ readonly execution: ExecutionDescription; readonly asked: Asked } | undefined> {
    const { fabric, tools, by } = this.#options
    try {
      const execution = await fabric.describe(id, { result: true })
      const tool = [...tools.values()].find(({ task }) => task.name === execution.task)
      return tool && { execution, asked: { fabric, task: tool.task, by } }
    } catch (error) {
      if (isOfCaller(error)) return undefined
      throw error
    }
  }

  #abilities({ mcpReq }: ServerContext): ClientAbilities {
    const envelope = mcpReq.envelope as Readonly<Record<string, unknown>> | undefined
    // eslint-disable-next-line @typescript-eslint/no-deprecated -- clients of earlier revisions declare them once, at the handshake
    const atHandshake = this.server.getClientCapabilities()
    const declared = envelope?.[this.#sdk.CLIENT_CAPABILITIES_META_KEY] ?? atHandshake ?? {}
    const { extensions = {}, elicitation } = declared as Sdk.ClientCapabilities
    return {
      // Revisions before the extension have other tasks, which this server does not offer.
      hasTasks: envelope !== undefined && TASKS_EXTENSION in extensions,
      canElicit: elicitation !== undefined && (elicitation.form !== undefined || elicitation.url === undefined),
    }
  }

  #invalidParams(message: string): Error {
    return new this.#sdk.ProtocolError(this.#sdk.ProtocolErrorCode.InvalidParams, message)
  }

  #missingTasks(): Error {
    const requiredCapabilities = { extensions: { [TASKS_EXTENSION]: {} } }
    return new this.#sdk.MissingRequiredClientCapabilityError({ requiredCapabilities })
  }
}

/** Whether the caller can mend it: a refused input, an unknown id. */
function isOfCaller(error: unknown): error is EngineError {
  return error instanceof EngineError && errorCatalogue[error.code].status < 500
}

const executionArgument = {
  type: 'object' as const,
  properties: { execution: { type: 'string', description: 'The id of the execution.' } },
  required: ['execution'],
}

const waitingTools: Tool[] = [
  {
    name: WAIT_TOOL,
    title: 'Wait for an execution',
    description: 'Waits for an execution that was started by another tool, and returns its result.',
    inputSchema: executionArgument,
  },
  {
    name: CANCEL_TOOL,
    title: 'Cancel an execution',
    description: 'Cancels an execution that was started by another tool.',
    inputSchema: executionArgument,
  },
]

function continuesText(id: string, text: string): string {
  return `The execution ${id} has not ended yet. ${text}\nIt continues in the background. To get its result, call ${WAIT_TOOL} with { "execution": "${id}" }.`
}

/** Sends progress if the client has asked for it. */
function progressOf({ mcpReq }: ServerContext): ((text: string) => Promise<void>) | undefined {
  const progressToken = mcpReq._meta?.progressToken
  if (progressToken === undefined) return undefined
  let progress = 0
  return async (message) => {
    progress++
    await mcpReq.notify({ method: 'notifications/progress', params: { progressToken, progress, message } })
  }
}
