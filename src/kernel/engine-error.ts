import { errorCatalogue } from './errors.ts'
import type { ErrorCode } from './errors.ts'
import type { RefusalDetail } from './results.ts'

/** Details of an error besides its code. Never a secret, never a payload. */
export interface ErrorDetail extends RefusalDetail {
  /** What exactly is wrong; follows the text of the code. */
  readonly message?: string | undefined
  /** The input or setting at fault. */
  readonly field?: string | undefined
  readonly issues?: readonly { readonly path: string; readonly message: string }[] | undefined
}

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

/** Every refusal and failure that a caller can receive. `code` is stable; `advice` names the next step. */
export class EngineError extends Error {
  override readonly name: string = 'EngineError'
  static {
    markError(this, 'EngineError')
  }
  readonly code: ErrorCode
  readonly detail: ErrorDetail
  /** What the reader can do. An own property, so that `console.error(error)` and loggers print it. */
  readonly advice: string

  constructor(code: ErrorCode, detail: ErrorDetail = {}, options?: ErrorOptions) {
    super(
      detail.message === undefined ? errorCatalogue[code].text : `${errorCatalogue[code].text} ${detail.message}`,
      options,
    )
    this.code = code
    this.detail = detail
    this.advice = errorCatalogue[code].advice
  }

  /** Whether the same call can succeed later. */
  get isRetryable(): boolean {
    return errorCatalogue[this.code].retry === 'later'
  }
}
