import type { ExecutionId } from '../../kernel/index.ts'
import { accept } from '../transport/accept.ts'
import type { FlowCalls } from './flow-calls.ts'
import { decodeValue } from '../checks/payload.ts'

/** Everything that upstreams have handed on to a member, by name, read page by page. */
export async function readHandedInputs(calls: FlowCalls, id: string): Promise<Readonly<Record<string, unknown>>> {
  const values: [string, unknown][] = []
  let from: ExecutionId | undefined
  do {
    const { result, blobs } = await calls.readInputs(id, from)
    const { page } = accept(result)
    for (const { name, result: info, blob } of page.inputs) values.push([name, decodeValue(info, blobs[blob ?? -1])])
    from = page.from
  } while (from !== undefined)
  return Object.fromEntries(values)
}
