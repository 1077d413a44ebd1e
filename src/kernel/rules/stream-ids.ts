/** Ids of the records of streams. */
import { joinName } from '../model/names.ts'

/** The name of a log beside its scope. Lives, chunks and names of steps are no such name. */
const LOG_NAME = 'log'

/** The id of the stream of log lines of one life of an execution. */
export function logIdIn(scope: string): string {
  return joinName(scope, LOG_NAME)
}

/** The id of one chunk. `scopeOf` returns the id of the stream of frames, and `logIdIn` that of log lines. */
export function frameChunkId(streamId: string, number: number): string {
  return joinName(streamId, String(number))
}
