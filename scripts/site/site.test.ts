import { readFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { root } from '../run.ts'
import { llmsFull, llmsIndex } from './llms.ts'
import { pageHtml } from './page-html.ts'
import { brokenLinks, imagesOf, indexOf, pageOf, readPages } from './pages.ts'

const pages = readPages(root)

test('every link of the documentation leads to a file and to a heading in it', () => {
  expect(pages.length).toBeGreaterThan(50)
  expect(brokenLinks(root, pages)).toEqual([])
})

test('a link to a missing page or heading is reported, and others are not', () => {
  const page = pageOf(
    'docs/tasks.md',
    '# Tasks\n\n[a](limits.md#nothing) [b](nothing.md) [c](#tasks) [d](https://example.com/x)',
  )

  expect(brokenLinks(root, [...pages.filter(({ source }) => source !== page.source), page])).toEqual(
    expect.arrayContaining([
      'docs/tasks.md: limits.md#nothing leads nowhere',
      'docs/tasks.md: nothing.md leads nowhere',
    ]),
  )
  expect(brokenLinks(root, [page])).not.toContain('docs/tasks.md: #tasks leads nowhere')
})

test('the README lists every page of the documentation, and the site has their order', () => {
  const listed = indexOf(pages[0])
  const sources = pages.map(({ source }) => source).filter((source) => /^docs\/(?!decisions\/)/.test(source))

  expect(pages[0]?.source).toBe('README.md')
  expect(sources).toEqual([...new Set(listed)].filter((source) => source.startsWith('docs/') && source.endsWith('.md')))
})

test('the pictures of pages are found, and each concept has one', () => {
  const concepts = pages.filter(({ source }) => source.startsWith('docs/concepts/'))

  expect(concepts.length).toBeGreaterThanOrEqual(8)
  for (const page of concepts) expect(imagesOf([page])).toEqual([expect.stringMatching(/^docs\/images\/.+\.svg$/)])
  for (const image of imagesOf(concepts)) {
    const text = readFileSync(path.join(root, image), 'utf8')
    expect(text).toMatch(/role="img" aria-labelledby="t d"[^]*<title id="t">[^<]+<[^]*<desc id="d">[^<]+</)
    expect(text).toContain('prefers-color-scheme:dark')
  }
  expect(imagesOf(pages)).toContain('docs/images/dashboard-overview.png')
})

test('a page links pages of the site, and other files in the repository, and escapes its code', () => {
  const page = pageOf(
    'docs/a.md',
    '# A & B\n\n## Two\n\n[t](tasks.md#ids) [e](../examples/agent.ts)\n\n```ts\na<b>()\n```',
  )
  const html = pageHtml(page, [...pages, page])

  expect(html).toContain('<h2 id="two">Two</h2>')
  expect(html).toContain('href="tasks.html#ids"')
  expect(html).toContain('/blob/main/examples/agent.ts"')
  expect(html).toContain('a&lt;b&gt;()')
  expect(html).toContain('<a href="../index.html">')
})

test('llms.txt names each page of users with its first paragraph, and the full text has all of them', () => {
  const index = llmsIndex(pages)

  expect(index).toMatch(/^# FlowFabric\n\n> \S/)
  expect(index).toContain('- [Tools over MCP](docs/mcp.md): `flowfabric mcp` serves'.replaceAll('`', ''))
  expect(index).not.toContain('docs/decisions')
  expect(llmsFull(pages)).toContain('<!-- docs/guides/pipelines.md -->')
})
