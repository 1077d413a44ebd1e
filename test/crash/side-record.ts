/**
 * What a process knows besides the store: one line of JSON for each thing it saw happen. A line is written by one system
 * call before the process continues, so that a kill of the process loses none that it has acted upon. A line without an end is
 * still being written, or was when the process was killed.
 */
import { closeSync, existsSync, openSync, readFileSync, truncateSync, writeSync } from 'node:fs'

export class SideRecord<Entry> {
  readonly #descriptor: number

  constructor(file: string) {
    if (existsSync(file)) truncateSync(file, endedLinesOf(readFileSync(file)).byteLength)
    this.#descriptor = openSync(file, 'a')
  }

  write(entry: Entry): void {
    writeSync(this.#descriptor, `${JSON.stringify(entry)}\n`)
  }

  close(): void {
    closeSync(this.#descriptor)
  }
}

/** Everything that processes have written to a file, in order. */
export function readSideRecord<Entry>(file: string): Entry[] {
  if (!existsSync(file)) return []
  return endedLinesOf(readFileSync(file))
    .toString()
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Entry)
}

function endedLinesOf(bytes: Buffer): Buffer {
  return bytes.subarray(0, bytes.lastIndexOf('\n') + 1)
}
