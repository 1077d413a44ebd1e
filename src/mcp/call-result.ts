/** The end of an execution as the result of a tool call. */
import type { CallToolResult } from '@modelcontextprotocol/server'
import type { ExecutionDescription } from '../client/index.ts'

/** Returns a failure as a result of the tool, whose reason the model reads. Most clients hide protocol errors from it. */
export function callResult(execution: ExecutionDescription): CallToolResult {
  const { id, outcome, failure, reason, removed, result } = execution
  if (outcome !== 'completed') {
    return errorResult(
      `The execution ${id} has ${outcome ?? 'not ended'}: ${failure?.message ?? reason ?? 'no reason'}`,
    )
  }
  if (removed?.hadResult === true) return errorResult(`The result of the execution ${id} was removed.`)
  if (result === undefined) return { content: [{ type: 'text', text: 'The task completed without a result.' }] }
  if (result instanceof Uint8Array) return { content: [bytesContent(id, result)] }
  const text = typeof result === 'string' ? result : JSON.stringify(result, undefined, 2)
  return { content: [{ type: 'text', text }], ...(isObject(result) ? { structuredContent: result } : {}) }
}

export function errorResult(text: string): CallToolResult {
  return { content: [{ type: 'text', text }], isError: true }
}

function bytesContent(id: string, bytes: Uint8Array): CallToolResult['content'][number] {
  return {
    type: 'resource',
    resource: {
      uri: `flowfabric:execution/${id}/result`,
      mimeType: 'application/octet-stream',
      blob: Buffer.from(bytes).toString('base64'),
    },
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
