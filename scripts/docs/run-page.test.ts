import { existsSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { root } from '../run.ts'
import { readers, unrunPages, unrunSnippets } from './readers.ts'
import { Site } from './run-page.ts'
import { allSnippets, snippetsOf } from './snippets.ts'

const FENCE = '```'
/** All pages run at the same time. */
const LIMIT_MS = 120_000
const snippets = allSnippets()
const runnable = snippets.filter(({ runs }) => runs)
const pages = [...new Set(runnable.map(({ page }) => page))].filter((page) => unrunPages[page] === undefined)

test.concurrent.each(pages)('the snippets of %s run', { timeout: LIMIT_MS }, async (page) => {
  const own = runnable.filter((snippet) => snippet.page === page)
  await Site.run(own, readers[page] ?? {})
})

test('what does not run has a reason, and no reason is left over', () => {
  const unrun = snippets.filter(({ runs }) => !runs).map(({ page }) => page)
  expect([...new Set(unrun)].sort()).toEqual(Object.keys(unrunSnippets))
  for (const page of Object.keys({ ...readers, ...unrunPages })) expect(existsSync(path.join(root, page))).toBe(true)
  expect(Object.keys(unrunPages).filter((page) => page in readers)).toEqual([])
  expect(runnable.length).toBeGreaterThan(80)
})

test('a snippet that fails is reported with its place', async () => {
  const page = [`${FENCE}ts`, "await fabric.describe('none')", FENCE].join('\n')

  await expect(Site.run(snippetsOf('planted.md', page), {})).rejects.toThrow(
    /^planted\.md:2: EngineError: No execution has this id/,
  )
})
