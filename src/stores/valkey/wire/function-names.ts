/** The names of the functions that the library registers on a server. */
export interface FunctionNames {
  /** Writes nothing, as the server knows. */
  readonly load: string
  readonly commit: string
  /** The same, applied although the server's memory is full. */
  readonly commitWhenFull: string
  readonly readLog: string
  readonly trimLog: string
  /** Returns the commands that the caller's user may not run. */
  readonly permissions: string
}
