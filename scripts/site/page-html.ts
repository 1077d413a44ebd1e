/** A page as HTML that needs no script. */
import { Marked } from 'marked'
import path from 'node:path'
import { addressOf, idsOf } from './pages.ts'
import type { Page } from './pages.ts'

const REPOSITORY = 'https://github.com/flowfabric/flowfabric/blob/main/'

const STYLE = `:root{color-scheme:light dark;--line:color-mix(in srgb,currentColor 20%,transparent)}
body{margin:0;font:16px/1.6 system-ui,sans-serif;display:grid;grid-template-columns:17rem minmax(0,1fr)}
nav{border-right:1px solid var(--line);padding:1rem;font-size:.9rem;max-height:100vh;overflow:auto;position:sticky;top:0;box-sizing:border-box}
nav ul{list-style:none;margin:0;padding:0}nav a{color:inherit;text-decoration:none}nav a:hover,nav [aria-current]{text-decoration:underline}
main{padding:1rem 2rem;max-width:52rem}img{max-width:100%;height:auto}pre{overflow:auto;padding:1rem;border:1px solid var(--line);border-radius:6px;line-height:1.4}
code{font:.9em ui-monospace,monospace}table{border-collapse:collapse;display:block;overflow:auto}td,th{border:1px solid var(--line);padding:.3rem .6rem;text-align:left}
@media(max-width:50rem){body{display:block}nav{position:static;max-height:none;border:0}}`

export function pageHtml(page: Page, pages: readonly Page[]): string {
  const known = new Set(pages.map(({ source }) => source))
  const ids = idsOf(
    page.tokens.filter(({ type }) => type === 'heading').map((token) => (token as { text: string }).text),
  )
  let next = 0
  const marked = new Marked({
    renderer: {
      heading({ tokens, depth }) {
        const id = ids[next++] ?? ''
        return `<h${depth} id="${id}">${this.parser.parseInline(tokens)}</h${depth}>\n`
      },
      link({ href, tokens }) {
        return `<a href="${escaped(siteLink(href, page.source, known))}">${this.parser.parseInline(tokens)}</a>`
      },
    },
  })
  const base = path.posix.relative(path.posix.dirname(page.address), '.') || '.'
  const items = pages
    .filter(({ source }) => !source.startsWith('docs/decisions/'))
    .map(({ address, title }) => {
      const current = address === page.address ? ' aria-current="page"' : ''
      return `<li><a href="${base}/${address}"${current}>${escaped(title)}</a></li>`
    })
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>${escaped(page.title)} · FlowFabric</title><meta name="description" content="${escaped(page.summary)}"><style>${STYLE}</style></head>
<body><nav><ul>${items.join('')}</ul></nav><main>${marked.parse(page.markdown, { async: false })}</main></body></html>
`
}

/** Pages link each other in the site. Other files of the repository are there alone. */
function siteLink(href: string, source: string, known: ReadonlySet<string>): string {
  if (/^([a-z][a-z+.-]*:|#)/i.test(href)) return href
  const [file = '', anchor] = href.split('#')
  const target = path.posix.join(path.posix.dirname(source), file)
  const hash = anchor === undefined ? '' : `#${anchor}`
  if (!known.has(target)) return REPOSITORY + target + hash
  return path.posix.relative(path.posix.dirname(addressOf(source)), addressOf(target)) + hash
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;')
}
