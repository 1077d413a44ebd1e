/**
 * What a process knows besides the store: one line of JSON for each thing it saw happen. A line is written by one system
 * call before the process continues, so that a kill of the process loses none of them.
 */
import { closeSync, existsSync, openSync, readFileSync, writeSync } from 'node:fs'

export class SideRecord<Entry> {
  readonly #descriptor: number

  constructor(file: string) {
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
  return readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Entry)
}
