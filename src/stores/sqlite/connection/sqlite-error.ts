/** Maps result codes of SQLite to engine errors. */
import { EngineError } from '../../../kernel/engine-error.ts'

const RESULT_CODE = {
  busy: 5,
  locked: 6,
  readOnly: 8,
  inputOutput: 10,
  corrupt: 11,
  full: 13,
  cannotOpen: 14,
  protocol: 15,
  tooBig: 18,
  constraint: 19,
  mismatch: 20,
  notADatabase: 26,
} as const

/** The low byte of an extended result code is the result code. */
const RESULT_CODE_MASK = 0xff

function resultCode(error: unknown): number | undefined {
  if (!(error instanceof Error) || !('errcode' in error) || typeof error.errcode !== 'number') return undefined
  return error.errcode & RESULT_CODE_MASK
}

export function isSqliteError(error: unknown): boolean {
  return resultCode(error) !== undefined
}

/** Whether another connection holds a lock, so that a retry may succeed. */
export function isBusy(error: unknown): boolean {
  const code = resultCode(error)
  return code === RESULT_CODE.busy || code === RESULT_CODE.locked || code === RESULT_CODE.protocol
}

/** Whether rows were refused, so that a retry fails again. */
export function isRefusedRow(error: unknown): error is Error {
  const code = resultCode(error)
  return code === RESULT_CODE.constraint || code === RESULT_CODE.mismatch || code === RESULT_CODE.tooBig
}

/** Converts an error of a store in use. */
export function failureInUse(file: string, error: unknown): unknown {
  if (error instanceof EngineError || !(error instanceof Error)) return error
  const code = resultCode(error)
  if (code === undefined) return error
  switch (code) {
    case RESULT_CODE.corrupt:
    case RESULT_CODE.notADatabase:
      return new EngineError('corruption', { message: `SQLite finds ${file} damaged.` }, { cause: error })
    case RESULT_CODE.full:
      return unavailable(`There is no room left to write ${file}: free some space on its disk.`, error)
    case RESULT_CODE.inputOutput:
      return unavailable(`Reading or writing ${file} failed: check its disk.`, error)
    case RESULT_CODE.readOnly:
      return unavailable(`${file} can no longer be written: check its permissions and its disk.`, error)
    default:
      return unavailable(`SQLite refused a step on ${file}: ${error.message}.`, error)
  }
}

function unavailable(message: string, cause: Error): EngineError {
  return new EngineError('store_unavailable', { message }, { cause })
}

/** Converts an error of opening a store, which is most often a mistake in its location. */
export function failureToOpen(file: string, error: unknown): unknown {
  if (isForbidden(error))
    return invalidFile(`${file} cannot be reached: give this process access to its folder.`, error)
  switch (resultCode(error)) {
    case RESULT_CODE.notADatabase:
      return invalidFile(`${file} is not a SQLite database: name another file, or one that does not exist yet.`, error)
    case RESULT_CODE.readOnly:
    case RESULT_CODE.cannotOpen:
      return invalidFile(`${file} cannot be written: make the file and its folder writable for this process.`, error)
    default:
      return failureInUse(file, error)
  }
}

function isForbidden(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === 'EACCES' || error.code === 'EPERM')
}

export function invalidFile(message: string, cause?: unknown): EngineError {
  return new EngineError('invalid_configuration', { field: 'location', message }, { cause })
}
