/** Everything that happened in a world, in order: a hash that two runs of one seed share, and the lines themselves if wanted. */
import { hashText } from './chance.ts'

export interface TraceLine {
  readonly atMs: number
  readonly text: string
}

export class Trace {
  readonly lines: TraceLine[] = []
  readonly #isKept: boolean
  #hash = 17

  constructor(isKept: boolean) {
    this.#isKept = isKept
  }

  get hash(): string {
    return this.#hash.toString(16).padStart(8, '0')
  }

  note(atMs: number, text: string): void {
    this.#hash = hashText(`${atMs} ${text}`, this.#hash)
    if (this.#isKept) this.lines.push({ atMs, text })
  }
}
