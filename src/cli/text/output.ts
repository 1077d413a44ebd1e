/**
 * The output of a command. Answers go to standard output, as text or as JSON; errors and remarks go to standard error.
 * Colours appear only on a terminal, and never with NO_COLOR.
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

  /** Prints the answer of a command, or one item of a stream. Resolves when the stream accepts more (backpressure). */
  async answer(value: unknown, text: () => string): Promise<void> {
    await this.#print(this.isJson ? JSON.stringify(value) : text())
  }

  /** Prints an item of a stream with --json only; the text output has remarks for it. */
  async record(value: unknown): Promise<void> {
    if (this.isJson) await this.#print(JSON.stringify(value))
  }

  /** Prints a hint beside the answer, in text output only. */
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

/** Exits with 0 when the reader closes the pipe (`| head`). */
export function endQuietlyOnClosedPipe(stream: NodeJS.WriteStream): void {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error
    process.exit(0)
  })
}

// eslint-disable-next-line no-control-regex -- control characters are what is looked for
const CONTROL = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g

/** Removes escape sequences and control characters from foreign text, so that it cannot manipulate the terminal. */
export function printable(text: string): string {
  return stripVTControlCharacters(text).replace(CONTROL, '\ufffd')
}

export function firstLine(text: string): string {
  return printable(text.split('\n', 1)[0] ?? '')
}
