/**
 * What a command prints. Answers go to standard output, as text for people or as JSON for programs; errors and remarks go
 * to standard error. Colours appear only on a terminal, and never against NO_COLOR.
 */
import { stripVTControlCharacters, styleText } from 'node:util'

export type Style = 'bold' | 'dim' | 'red' | 'green' | 'yellow' | 'cyan'

export class Output {
  readonly isJson: boolean
  readonly #stdout: NodeJS.WriteStream
  readonly #stderr: NodeJS.WriteStream

  constructor(stdout: NodeJS.WriteStream, stderr: NodeJS.WriteStream, isJson: boolean) {
    this.#stdout = stdout
    this.#stderr = stderr
    this.isJson = isJson
  }

  /** The answer of a command, or one item of a stream. Resolves when the reader has room for more. */
  async answer(value: unknown, text: () => string): Promise<void> {
    await this.#print(this.isJson ? JSON.stringify(value) : text())
  }

  /** An item of a stream for programs only; people are told the same by remarks. */
  async record(value: unknown): Promise<void> {
    if (this.isJson) await this.#print(JSON.stringify(value))
  }

  /** A word beside the answer, for people only: where to go on, what is being waited for. */
  remark(text: string): void {
    if (!this.isJson) this.#stderr.write(`${styleText('dim', text, { stream: this.#stderr })}\n`)
  }

  problem(text: string): void {
    this.#stderr.write(`${text}\n`)
  }

  style(style: Style, text: string): string {
    return styleText(style, text, { stream: this.#stdout })
  }

  styleProblem(style: Style, text: string): string {
    return styleText(style, text, { stream: this.#stderr })
  }

  async #print(line: string): Promise<void> {
    if (this.#stdout.write(`${line}\n`)) return
    await new Promise<void>((resolve) => this.#stdout.once('drain', resolve))
  }
}

/** A reader that has seen enough (`| head`) closes the pipe: that is its right, and no failure. */
export function endQuietlyOnClosedPipe(stream: NodeJS.WriteStream): void {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error
    process.exit(0)
  })
}

// eslint-disable-next-line no-control-regex -- control characters are what is looked for
const CONTROL = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g

/** Text from outside, safe to print: nothing in it can move the cursor, recolour the screen or hide itself. */
export function printable(text: string): string {
  return stripVTControlCharacters(text).replace(CONTROL, '\ufffd')
}

export function firstLine(text: string): string {
  return printable(text.split('\n', 1)[0] ?? '')
}
