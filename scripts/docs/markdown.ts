/** The few pieces of Markdown that the generated pages are made of. */

export const GENERATED = '<!-- Written by scripts/generate-docs.ts from the source. Changes made here are lost. -->'

export function table(columns: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [columns, columns.map(() => '---'), ...rows]
  return lines.map((cells) => `| ${cells.join(' | ')} |`).join('\n')
}

export function code(text: string): string {
  return `\`${text}\``
}

export function codes(texts: readonly string[]): string {
  return texts.map(code).join(', ')
}
