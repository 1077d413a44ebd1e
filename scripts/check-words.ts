/**
 * Finds idioms that the language rules of CONTRIBUTING.md replace by technical terms: in the comments and strings of the
 * source, and in the documentation. Names and patterns in code are not checked.
 */
import { globSync, readFileSync } from 'node:fs'
import path from 'node:path'
import ts from 'typescript'
import { root } from './run.ts'

const CHECKED = [
  '{src,scripts,bench,test,examples,dashboard/src}/**/*.{ts,tsx}',
  '{README,CONTRIBUTING}.md',
  'docs/**/*.md',
]
const IDIOMS =
  /\b(who(m)?ever|(some|no|any|every)body|told|tells|hears|heard|wish(es|ed)?|said|says (so|again|nothing|itself)|(goes|went) on|(sees|seen) to|lets go|be had)\b/

/** The idioms as they may be wrapped, over the lines of a paragraph or of a comment. */
const wrapped = new RegExp(IDIOMS.source.replaceAll(' ', '[\\s*/]+'), 'giu')

/** A string of one word is a name, too: of a user, a state, an option. */
function isName(node: ts.Node): boolean {
  if (ts.isStringLiteralLike(node)) return !/\s/.test(node.text)
  return ts.isIdentifier(node) || ts.isPrivateIdentifier(node) || ts.isRegularExpressionLiteral(node)
}

/** Replaces names and patterns by spaces, so that comments and strings keep their positions. */
function withoutNames(file: string, text: string): string {
  const source = ts.createSourceFile(path.basename(file), text, ts.ScriptTarget.Latest)
  const characters = text.split('')
  function visit(node: ts.Node): void {
    if (isName(node)) characters.fill(' ', node.getStart(source), node.end)
    ts.forEachChild(node, visit)
  }
  visit(source)
  return characters.join('')
}

/** Returns the idioms in a file, each as `line: words`. */
export function findIdioms(file: string, text: string): string[] {
  const checked = /\.tsx?$/.test(file) ? withoutNames(file, text) : text
  return [...checked.matchAll(wrapped)].map(
    ({ 0: words, index }) => `${checked.slice(0, index).split('\n').length}: ${words.replaceAll(/[\s*/]+/g, ' ')}`,
  )
}

if (import.meta.main) {
  const found = globSync(CHECKED, { cwd: root, exclude: ['**/node_modules/**'] }).flatMap((file) =>
    findIdioms(file, readFileSync(path.join(root, file), 'utf8')).map((place) => `${file}:${place}`),
  )
  if (found.length > 0) {
    console.error(
      `${found.join('\n')}\n${found.length} idioms. CONTRIBUTING.md, "Language", describes what to write instead.`,
    )
    process.exitCode = 1
  }
}
