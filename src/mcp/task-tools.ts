/** The tools that a server offers: one for each task. */
import type { AnyTask, JsonSchema } from '../client/index.ts'
import { invalidInput, jsonSchemaOf } from '../client/index.ts'

/** Names of tools that many models accept: letters, digits, _ and -, up to 64. */
const NAME_MAX = 64

export interface TaskTool {
  readonly name: string
  readonly task: AnyTask
  /** What a model reads of it. */
  readonly description: string
  readonly inputSchema: JsonSchema & { readonly type: 'object' }
  /** Turns the arguments of a call into the input of the task. */
  readonly inputOf: (given: Readonly<Record<string, unknown>>) => unknown
}

/** Returns the tools by name. Refuses two tasks whose names become the same. */
export function taskTools(tasks: readonly AnyTask[]): ReadonlyMap<string, TaskTool> {
  const tools = new Map<string, TaskTool>()
  for (const task of tasks) {
    const tool = toolOf(task)
    const other = tools.get(tool.name)
    if (other !== undefined && other.task.name !== task.name) {
      throw invalidInput(
        'tasks',
        `The tasks '${other.task.name}' and '${task.name}' would both be the tool '${tool.name}': rename one.`,
      )
    }
    tools.set(tool.name, tool)
  }
  return tools
}

function toolOf(task: AnyTask): TaskTool {
  const schema = jsonSchemaOf(task.inputSchema)
  const description = schema?.['description']
  return {
    name: task.name.replaceAll(/[^A-Za-z0-9_-]/g, '_').slice(0, NAME_MAX),
    task,
    description: typeof description === 'string' ? description : `Runs the task ${task.name} as a durable execution.`,
    ...argumentsOf(schema),
  }
}

/** Arguments are an object, so an input of another type is their field `input`. */
function argumentsOf(schema: JsonSchema | undefined): Pick<TaskTool, 'inputSchema' | 'inputOf'> {
  if (schema === undefined) return { inputSchema: { type: 'object' }, inputOf: (given) => given }
  if (schema['type'] === 'object') {
    return { inputSchema: { ...schema, type: 'object' }, inputOf: (given) => given }
  }
  return {
    inputSchema: { type: 'object', properties: { input: schema }, required: ['input'] },
    inputOf: ({ input }) => input,
  }
}
