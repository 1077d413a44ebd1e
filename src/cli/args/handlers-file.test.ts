import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { loadHandlers } from './handlers-file.ts'

function moduleWith(text: string): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'flowfabric-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const file = path.join(folder, 'handlers.mjs')
  writeFileSync(file, text)
  return file
}

const makeHandler = `const handler = (name) => ({ task: { name }, options: {}, run: async () => undefined })\n`

test('handlers and flows are found under any name, in lists, and once each', async () => {
  const file = moduleWith(`${makeHandler}
    export const greet = handler('greet')
    export const all = [greet, handler('report')]
    export default greet
    export const release = { name: 'release', [Symbol.for('flowfabric.flow')]: true }
    export const flows = [release]
    export const limit = 3
    export const nothing = null`)

  const { handlers, flows } = await loadHandlers(file)

  expect(flows.map(({ name }) => name)).toEqual(['release'])
  expect(handlers.map((handler) => handler.task.name).sort()).toEqual(['greet', 'report'])
})

test('a module without handlers is refused with an example of one', async () => {
  await expect(loadHandlers(moduleWith('export const limit = 3'))).rejects.toThrow(/exports no handler.*export const/)
})

test('a module that fails is refused with its own error', async () => {
  await expect(loadHandlers(moduleWith(`throw new Error('no database')`))).rejects.toMatchObject({
    code: 'invalid_input',
    message: expect.stringContaining('no database') as unknown,
  })
})

test('a file that does not exist is refused by its name', async () => {
  await expect(loadHandlers('nowhere.ts')).rejects.toThrow('nowhere.ts does not exist')
})
