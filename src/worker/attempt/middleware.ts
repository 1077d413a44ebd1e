/** Middleware around every handler of a worker, such as tracing and metrics. */
import type { TaskContext } from '../../client/define/context.ts'
import type { Handler } from '../../client/define/task.ts'

/**
 * Wraps a handler. Its returned value or thrown error is the outcome of the attempt. In a run that is parked, `next` never
 * settles: register cleanup with `onPark`.
 *
 * @example
 * const timed: Middleware = async (context, next) => {
 *   const span = tracer.startSpan(context.task)
 *   context.onPark(() => span.end())
 *   try {
 *     return await next()
 *   } finally {
 *     span.end()
 *   }
 * }
 */
export type Middleware = (context: TaskContext, next: () => Promise<unknown>) => Promise<unknown>

/** Wraps a handler in its middleware. The first of the list is the outermost. */
export function composeHandler(middleware: readonly Middleware[], run: Handler['run']): Handler['run'] {
  return middleware.reduceRight<Handler['run']>(
    (inner, outer) => async (input, context) => {
      let isCalled = false
      return await outer(context, () => {
        if (isCalled)
          return Promise.reject(new Error('A middleware called next() twice: a handler runs once per attempt.'))
        isCalled = true
        return inner(input, context)
      })
    },
    run,
  )
}
