/** Ids of the records of streams. */
import { joinName } from '../model/names.ts'

/** The id of one chunk. `scopeOf` returns the id of the stream. */
export function frameChunkId(streamId: string, number: number): string {
  return joinName(streamId, String(number))
}
