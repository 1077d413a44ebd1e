/** The documentation for language models: an index with a sentence for each page, and all pages in one text. */
import type { Page } from './pages.ts'

const isForUsers = ({ source }: Page) => source.startsWith('docs/') && !source.startsWith('docs/decisions/')

export function llmsIndex(pages: readonly Page[]): string {
  const readme = pages.find(({ source }) => source === 'README.md')
  const lines = pages.filter(isForUsers).map(({ title, source, summary }) => `- [${title}](${source}): ${summary}`)
  return `# FlowFabric\n\n> ${readme?.summary ?? ''}\n\n## Documentation\n\n${lines.join('\n')}\n`
}

export function llmsFull(pages: readonly Page[]): string {
  const texts = pages.filter((page) => page.source === 'README.md' || isForUsers(page))
  return texts.map(({ source, markdown }) => `<!-- ${source} -->\n\n${markdown.trim()}\n`).join('\n')
}
