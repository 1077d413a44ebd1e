import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { Readable } from 'node:stream'
import { expect, onTestFinished, test } from 'vitest'
import { readInput } from './input-argument.ts'

const nothing = Readable.from([])

test('an input is JSON, and no argument is no input', async () => {
  expect(await readInput('{"name":"Ada"}', nothing)).toEqual({ name: 'Ada' })
  expect(await readInput('null', nothing)).toBeNull()
  expect(await readInput(undefined, nothing)).toBeUndefined()
})

test('a dash reads standard input, also when a character is cut in two', async () => {
  const bytes = Buffer.from('"Zoë"')
  expect(await readInput('-', Readable.from([bytes.subarray(0, 4), bytes.subarray(4)]))).toBe('Zoë')
})

test('an at sign reads a file', async () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'flowfabric-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const file = path.join(folder, 'input.json')
  writeFileSync(file, '[1, 2]')

  expect(await readInput(`@${file}`, nothing)).toEqual([1, 2])
  await expect(readInput(`@${file}.not`, nothing)).rejects.toMatchObject({ code: 'invalid_input' })
})

test('what is not JSON is refused with a hint at the quotes', async () => {
  await expect(readInput('Ada', nothing)).rejects.toThrow(/not JSON.*single quotes/)
})

test('an endless input is given up, not collected', async () => {
  const endless = Readable.from(
    (function* () {
      for (;;) yield Buffer.alloc(65_536, 0x20)
    })(),
  )
  await expect(readInput('-', endless)).rejects.toMatchObject({ code: 'payload_too_large' })
})
