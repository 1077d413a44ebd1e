import { markError } from './error-mark.ts'
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

/** Every refusal and failure that a caller can receive. `code` is stable; `advice` names the next step. */
export class EngineError extends Error {
  override readonly name: string = 'EngineError'
  static {
    markError(this, 'EngineError')
  }
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
