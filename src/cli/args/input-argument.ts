/** Reads an input argument: JSON, `@file`, or `-` for standard input. */
import { createReadStream } from 'node:fs'
import type { Readable } from 'node:stream'
import { invalidInput } from '../../client/index.ts'
import { EngineError } from '../../kernel/engine-error.ts'

/** The most text that is read. The payload limit applies to the compact form, which is smaller. */
const INPUT_TEXT_BYTES = 4_194_304

/** Without an argument the input is `undefined`. */
export async function readInput(argument: string | undefined, stdin: Readable): Promise<unknown> {
  if (argument === undefined) return undefined
  if (argument === '-') return parseJson(await readText(stdin, 'standard input'), 'Standard input')
  if (!argument.startsWith('@')) return parseJson(argument, 'The input')
  const file = argument.slice(1)
  return parseJson(await readText(createReadStream(file), `the file ${file}`), `The file ${file}`)
}

async function readText(stream: Readable, name: string): Promise<string> {
  const chunks: Buffer[] = []
  let bytes = 0
  try {
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      bytes += chunk.byteLength
      if (bytes > INPUT_TEXT_BYTES) break
      chunks.push(chunk)
    }
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new EngineError('invalid_input', { field: 'input', message: `Cannot read ${name}: ${reason}.` }, { cause })
  }
  if (bytes > INPUT_TEXT_BYTES) {
    throw new EngineError('payload_too_large', {
      field: 'input',
      limit: INPUT_TEXT_BYTES,
      message: `More than ${INPUT_TEXT_BYTES} bytes come from ${name}.`,
    })
  }
  return Buffer.concat(chunks).toString('utf8')
}

function parseJson(text: string, name: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw invalidInput(
      'input',
      `${name} is not JSON: ${reason}. In most shells it is written in single quotes, as in '{"name":"Ada"}' or '"Ada"'.`,
    )
  }
}
