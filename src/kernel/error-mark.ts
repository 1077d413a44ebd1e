type ErrorClass = abstract new (...parts: never[]) => Error

/**
 * Lets `instanceof` recognise errors by a mark, also those of another copy of the library, which has other classes. A class
 * of a program that extends a marked one is still recognised by its prototype.
 */
export function markError(marked: ErrorClass, name: string): void {
  const mark = Symbol.for(`flowfabric.${name}`)
  Object.defineProperty(marked.prototype, mark, { value: true })
  Object.defineProperty(marked, Symbol.hasInstance, {
    value(this: unknown, error: unknown): boolean {
      if (this !== marked) return Function.prototype[Symbol.hasInstance].call(this as ErrorClass, error)
      return typeof error === 'object' && error !== null && mark in error
    },
  })
}
