/** What stands around every handler of a worker: tracing, metrics, context of the application's own. */
import type { TaskContext } from '../../client/define/context.ts'
import type { Handler } from '../../client/define/task.ts'

/**
 * Gets what the handler gets and decides when it runs. Whatever it returns or throws is the attempt's outcome. A run that
 * is parked does not come back from `next`: what is to be closed then is told to `onPark`.
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

/** The handler inside its middleware. The first of the list is the outermost. */
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
