/** The pages of the documentation: their text, their headings and their links. */
import { existsSync, globSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { Lexer, walkTokens } from 'marked'
import type { Token, Tokens } from 'marked'

export interface Page {
  /** The source, such as `docs/tasks.md`. */
  readonly source: string
  /** Where it is in the site, such as `docs/tasks.html`. The README is the first page. */
  readonly address: string
  readonly title: string
  /** The first paragraph. */
  readonly summary: string
  readonly markdown: string
  readonly tokens: readonly Token[]
  /** The ids of its headings. */
  readonly anchors: ReadonlySet<string>
}

const SOURCES = ['README.md', 'CHANGELOG.md', 'CONTRIBUTING.md', 'docs/**/*.md']

/** Returns the pages in the order of the index in the README. The README is the first, and pages that it does not list are the last. */
export function readPages(root: string): Page[] {
  const pages = globSync(SOURCES, { cwd: root })
    .sort()
    .map((source) => pageOf(source, readFileSync(path.join(root, source), 'utf8')))
  const order = ['README.md', ...indexOf(pages.find(({ source }) => source === 'README.md'))]
  const rank = ({ source }: Page) => (order.includes(source) ? order.indexOf(source) : order.length)
  return pages.sort((a, b) => rank(a) - rank(b))
}

/** Returns the pages that the README lists under "Documentation". */
export function indexOf(readme: Page | undefined): string[] {
  const tokens = readme?.tokens ?? []
  const start = tokens.findIndex((token) => token.type === 'heading' && token.text === 'Documentation')
  return linksIn(tokens.slice(start)).map((link) => link.split('#')[0] ?? '')
}

export function pageOf(source: string, markdown: string): Page {
  const tokens = new Lexer().lex(markdown)
  const headings = tokens.filter((token): token is Tokens.Heading => token.type === 'heading')
  const paragraph = tokens.find((token) => token.type === 'paragraph')
  return {
    source,
    address: addressOf(source),
    title: headings[0]?.text.replaceAll('`', '') ?? source,
    summary: plain(paragraph?.raw ?? ''),
    markdown,
    tokens,
    anchors: new Set(idsOf(headings.map(({ text }) => text))),
  }
}

export function addressOf(source: string): string {
  return source === 'README.md' ? 'index.html' : source.replace(/\.md$/, '.html')
}

/** The ids that headings get on the common forges, so that links work there, too. */
export function idsOf(headings: readonly string[]): string[] {
  const seen = new Map<string, number>()
  return headings.map((text) => {
    const id = plain(text)
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
      .trim()
      .replaceAll(/\s/g, '-')
    const count = seen.get(id) ?? 0
    seen.set(id, count + 1)
    return count === 0 ? id : `${id}-${count}`
  })
}

/** Returns the links that lead nowhere, as `docs/tasks.md: limits.md#nothing`. Addresses on the network are not requested. */
export function brokenLinks(root: string, pages: readonly Page[]): string[] {
  const bySource = new Map(pages.map((page) => [page.source, page]))
  return pages.flatMap((page) =>
    linksIn(page.tokens)
      .filter((link) => !/^[a-z][a-z+.-]*:/i.test(link))
      .filter((link) => {
        const [file = '', anchor] = link.split('#')
        const source = file === '' ? page.source : path.posix.join(path.posix.dirname(page.source), file)
        if (!existsSync(path.join(root, source))) return true
        return anchor !== undefined && bySource.get(source)?.anchors.has(anchor) === false
      })
      .map((link) => `${page.source}: ${link} leads nowhere`),
  )
}

/** Returns what is linked and shown, as it is written there. */
function linksIn(tokens: readonly Token[], types: readonly string[] = ['link', 'image']): string[] {
  const links: string[] = []
  void walkTokens([...tokens], (token) => {
    if (types.includes(token.type)) links.push((token as Tokens.Link).href)
  })
  return links
}

/** Returns the files of the pictures of pages, such as `docs/images/flows.svg`. */
export function imagesOf(pages: readonly Page[]): string[] {
  const files = pages.flatMap((page) =>
    linksIn(page.tokens, ['image'])
      .filter((href) => !/^[a-z][a-z+.-]*:/i.test(href))
      .map((href) => path.posix.join(path.posix.dirname(page.source), href)),
  )
  return [...new Set(files)]
}

/** The text of a line of Markdown, without its marks. */
function plain(markdown: string): string {
  return markdown
    .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replaceAll(/[`*]/g, '')
    .replaceAll(/\s+/g, ' ')
    .trim()
}
