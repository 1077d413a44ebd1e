/** Runs docs/quick-start.md literally, against the packed package. */
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { expect, test } from 'vitest'
import { installInto, packInto } from './packed-package.ts'
import { root, workplace } from './workplace.ts'
import type { Running, Workplace } from './workplace.ts'

const LIMIT_MS = 120_000

/** Commands of the page run on the Node that runs this test. */
const PATH = `${path.dirname(process.execPath)}:${process.env['PATH'] ?? ''}`

interface Block {
  readonly language: string
  readonly marks: readonly string[]
  readonly text: string
}

function blocksOf(page: string): Block[] {
  return [...page.matchAll(/^```(\w+) ?(.*)\n([^]*?)^```$/gm)].map(([, language = '', marks = '', text = '']) => ({
    language,
    marks: marks.split(' ').filter((mark) => mark !== ''),
    text,
  }))
}

/** The page of a reader: a shell in a folder, and a second one in which a program runs. */
class Reader {
  readonly #place: Workplace
  #folder: string
  #background: Running | undefined
  output = ''

  constructor(place: Workplace) {
    this.#place = place
    this.#folder = place.folder
  }

  async follow({ language, marks, text }: Block): Promise<void> {
    const file = marks.find((mark) => mark.startsWith('file='))?.slice('file='.length)
    if (file !== undefined) {
      await this.#place.write(path.relative(this.#place.folder, path.join(this.#folder, file)), text)
      return
    }
    if (language === 'text') {
      expect(this.output.trimEnd().split('\n').slice(-text.trimEnd().split('\n').length).join('\n')).toBe(
        text.trimEnd(),
      )
      return
    }
    expect(language).toBe('sh')
    if (marks.includes('restart')) await this.#background?.endBy('SIGKILL')
    if (marks.includes('background')) {
      await this.#start(text)
      return
    }
    await this.#run(text)
  }

  async #start(text: string): Promise<void> {
    const [, ...args] = text.trim().split(' ')
    expect(args[0]).toBe('flowfabric')
    const command = path.join(this.#folder, 'node_modules/.bin/flowfabric')
    this.#background = this.#place.startNode([command, ...args.slice(1)], { cwd: this.#folder })
    await this.#background.prints(/Events follow/)
  }

  async #run(text: string): Promise<void> {
    // The package is not published yet when its tests run, so an install is replaced by the package under test.
    const script = `npm() { if [ "$1" = install ]; then echo "install $2" >&2; else command npm "$@"; fi; }\nset -e\n${text}\npwd\n`
    const { code, stdout, stderr } = await this.#place
      .startProgram('sh', ['-c', script], { cwd: this.#folder, env: { PATH } })
      .end()
    expect({ code, stderr }).toMatchObject({ code: 0 })
    const lines = stdout.trimEnd().split('\n')
    this.#folder = lines.pop() ?? ''
    this.output = lines.join('\n')
    if (stderr.includes('install flowfabric')) {
      const { tarball } = await packInto(this.#place.folder)
      await installInto(this.#folder, tarball)
    }
  }

  async leave(): Promise<void> {
    await this.#background?.endBy('SIGINT')
  }
}

test('the quick start does what it says', { timeout: LIMIT_MS }, async () => {
  const reader = new Reader(await workplace())
  const blocks = blocksOf(await readFile(path.join(root, 'docs/quick-start.md'), 'utf8'))

  expect(blocks.length).toBeGreaterThan(8)
  for (const block of blocks) await reader.follow(block)

  expect(reader.output).toBe('A-17 is on its way, with the label of A-17')
  await reader.leave()
})
