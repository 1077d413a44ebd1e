/** Errors for values that a caller passed. */
import { EngineError } from '../kernel/engine-error.ts'

export function invalidInput(field: string, message: string): EngineError {
  return new EngineError('invalid_input', { field, message })
}

/** `wanted` says what the value must be. */
export function wrongValue(field: string, value: unknown, wanted: string): EngineError {
  return invalidInput(field, `${field} is ${show(value)}, but must be ${wanted}.`)
}

export function invalidConfiguration(field: string, message: string): EngineError {
  return new EngineError('invalid_configuration', { field, message })
}

/** Formats a value for an error message: short, and on one line. */
export function show(value: unknown): string {
  const text = typeof value === 'string' ? JSON.stringify(value) : textOf(value)
  return text.length > 80 ? `${text.slice(0, 80)}…` : text
}

/** Converting an object to a string may throw. */
function textOf(value: unknown): string {
  try {
    return String(value)
  } catch {
    return `an ${typeof value} without a text`
  }
}
