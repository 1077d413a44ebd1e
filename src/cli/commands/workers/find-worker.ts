/** Finds a worker by what an operator reads in the list. */
import { invalidInput, show } from '../../../client/index.ts'
import type { Client, ListWorkersOptions, WorkerInfo } from '../../../client/index.ts'

/** Workers that a command lists at most. */
const WORKERS_MAX = 10_000

export async function allWorkers(client: Client, options: ListWorkersOptions): Promise<WorkerInfo[]> {
  const items: WorkerInfo[] = []
  let cursor: string | undefined
  do {
    const page = await client.workers(cursor === undefined ? options : { ...options, cursor })
    items.push(...page.items)
    cursor = page.cursor
  } while (cursor !== undefined && items.length < WORKERS_MAX)
  return items
}

/** A shorter text could be a mistake, such as an empty variable of a script. */
const PREFIX_MIN = 4

/** Returns the instance id that a text names: itself, its beginning, or the name of the only worker that has it. */
export async function findWorker(client: Client, text: string): Promise<string> {
  const items = await allWorkers(client, {})
  if (items.some(({ instanceId }) => instanceId === text)) return text
  const found = items.filter(({ instanceId, workerId }) => workerId === text || isStart(instanceId, text))
  const [only] = found
  if (only !== undefined && found.length === 1) return only.instanceId
  if (only === undefined) return text
  const ids = found.map(({ instanceId }) => instanceId).join(', ')
  throw invalidInput('id', `${show(text)} names ${found.length} workers: use one of the instance ids ${ids}.`)
}

function isStart(instanceId: string, text: string): boolean {
  return text.length >= PREFIX_MIN && instanceId.startsWith(text)
}
