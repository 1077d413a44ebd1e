/**
 * The output of a command. Answers go to standard output, as text or as JSON; errors and remarks go to standard error.
 * Colours appear only on a terminal, and never with NO_COLOR.
 */
import { styleText } from 'node:util'
import { redactTokens } from './redact-tokens.ts'
import { escapeHiddenInJson } from './printable.ts'

export type Style = 'bold' | 'dim' | 'red' | 'green' | 'yellow' | 'cyan'

/** Moves to the first line of the screen, and clears what follows. */
const CLEAR_SCREEN = '\u001b[H\u001b[J'

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
    await this.#print(this.isJson ? this.#json(value) : text())
  }

  /** Prints a picture that is shown again and again. On a terminal it replaces the previous one. */
  async picture(value: unknown, text: () => string): Promise<void> {
    const clear = !this.isJson && this.#stdout.isTTY ? CLEAR_SCREEN : ''
    await this.#print(clear + (this.isJson ? this.#json(value) : text()))
  }

  /** Prints an item of a stream with --json only; the text output has remarks for it. */
  async record(value: unknown): Promise<void> {
    if (this.isJson) await this.#print(this.#json(value))
  }

  /** Prints a hint beside the answer, in text output only. */
  remark(text: string): void {
    if (!this.isJson) this.#stderr.write(`${styleText('dim', redactTokens(text), { stream: this.#stderr })}\n`)
  }

  /** Prints an error or a line of the log. It may quote an argument, so tokens are removed. */
  problem(text: string): void {
    const shown = this.isJson && this.#stderr.isTTY ? escapeHiddenInJson(text) : text
    this.#stderr.write(`${redactTokens(shown)}\n`)
  }

  style(style: Style, text: string): string {
    return styleText(style, text, { stream: this.#stdout })
  }

  styleProblem(style: Style, text: string): string {
    return styleText(style, text, { stream: this.#stderr })
  }

  /** A person may read the document on a terminal, so nothing in it may hide there. */
  #json(value: unknown): string {
    const text = JSON.stringify(value)
    return this.#stdout.isTTY ? escapeHiddenInJson(text) : text
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
