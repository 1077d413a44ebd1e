import { errorCatalogue } from './errors.ts'
import type { ErrorCode } from './errors.ts'
import type { RefusalDetail } from './results.ts'

/** What an error tells besides its code. Never a secret, never a payload. */
export interface ErrorDetail extends RefusalDetail {
  /** What exactly is wrong, in words that follow the code's own text. */
  readonly message?: string | undefined
  /** The input or setting at fault. */
  readonly field?: string | undefined
  readonly issues?: readonly { readonly path: string; readonly message: string }[] | undefined
}

/** Every refusal and failure that a caller can meet. `code` is stable; `advice` says what to do next. */
export class EngineError extends Error {
  override readonly name: string = 'EngineError'
  readonly code: ErrorCode
  readonly detail: ErrorDetail

  constructor(code: ErrorCode, detail: ErrorDetail = {}, options?: ErrorOptions) {
    super(
      detail.message === undefined ? errorCatalogue[code].text : `${errorCatalogue[code].text} ${detail.message}`,
      options,
    )
    this.code = code
    this.detail = detail
  }

  /** Whether the same call can succeed later. */
  get isRetryable(): boolean {
    return errorCatalogue[this.code].retry === 'later'
  }

  get advice(): string {
    return errorCatalogue[this.code].advice
  }
}
