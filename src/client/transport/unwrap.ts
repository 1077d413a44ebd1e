import type { ErrorCode, RefusalDetail, Refused } from '../../kernel/index.ts'
import { EngineError } from '../../kernel/engine-error.ts'

/** Returns a result, and throws a refusal as an `EngineError`. */
export function unwrap<R extends { readonly kind: string }>(result: R | Refused): Exclude<R, Refused> {
  if (isRefused(result)) throw refusalError(result)
  return result as Exclude<R, Refused>
}

function isRefused(result: { readonly kind: string }): result is Refused {
  return result.kind === 'refused'
}

function refusalError({ code, detail }: Refused): EngineError {
  const message = graphText(code, detail)
  return new EngineError(code, message === undefined ? detail : { ...detail, message })
}

/** Describes the part of a graph that a refusal concerns. */
function graphText(code: ErrorCode, { path = [], nodes = [], limit }: RefusalDetail): string | undefined {
  if (path.length > 0) return `The path is ${path.join(' → ')}.`
  if (nodes.length === 0) return code === 'graph_limit_exceeded' ? `The limit is ${limit}.` : undefined
  const named = `${nodes.length === 1 ? 'Node' : 'Nodes'} ${nodes.map((node) => `'${node}'`).join(', ')}`
  return limit === undefined ? `${named}.` : `${named}: the limit is ${limit}.`
}
