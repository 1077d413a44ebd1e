import type { ErrorCode, OperationName, OperationResult, RefusalDetail, Refused } from '../../kernel/index.ts'
import { EngineError } from '../../kernel/engine-error.ts'
import type { AnswerResult } from '../journal/answer-result.ts'
import type { StagedResult } from '../executions/staging.ts'

/** The result, or the refusal as an error. */
export function accept<R extends OperationResult<OperationName> | StagedResult | AnswerResult>(
  result: R,
): Exclude<R, Refused> {
  if (result.kind === 'refused') throw refusalError(result)
  return result as Exclude<R, Refused>
}

function refusalError({ code, detail }: Refused): EngineError {
  const message = graphText(code, detail)
  return new EngineError(code, message === undefined ? detail : { ...detail, message })
}

/** What a refusal knows of a graph, in words. */
function graphText(code: ErrorCode, { path = [], nodes = [], limit }: RefusalDetail): string | undefined {
  if (path.length > 0) return `The path is ${path.join(' → ')}.`
  if (nodes.length === 0) return code === 'graph_limit_exceeded' ? `The limit is ${limit}.` : undefined
  const named = `${nodes.length === 1 ? 'Node' : 'Nodes'} ${nodes.map((node) => `'${node}'`).join(', ')}`
  return limit === undefined ? `${named}.` : `${named}: the limit is ${limit}.`
}
