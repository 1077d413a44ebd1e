/**
 * Writes all mutants of a file into one text, each behind a switch with its number. So the sources are loaded once, and a test
 * runs again with another mutant without loading anything.
 */
import ts from 'typescript'
import { parseSource } from './mutants.ts'
import type { Mutant } from './mutants.ts'

/** The name of the global that `test/mutation/switch.ts` provides. */
const SWITCH = 'flowfabricMutation'

interface Insertion {
  readonly at: number
  readonly text: string
  /** Closing texts come before opening ones at the same position; the innermost closes first and opens last. */
  readonly order: number
}

const CLOSING = -1e6

/** `firstNumber` is the number of the first of the mutants; the others follow it in their order. */
export function instrument(file: string, text: string, mutants: readonly Mutant[], firstNumber: number): string {
  const insertions: Insertion[] = []
  const around = (start: number, end: number, depth: number, before: string, after: string): void => {
    insertions.push({ at: start, text: before, order: depth })
    insertions.push({ at: end, text: after, order: CLOSING - depth })
  }

  const source = parseSource(file, text)
  const visit = (node: ts.Node, depth: number): void => {
    // Braces, because a statement that begins with a parenthesis would continue the line before it.
    if (ts.isExpressionStatement(node)) around(node.getStart(source), node.getEnd(), depth - 0.5, '{', '}')
    if (isLoop(node)) {
      const { statement } = node
      if (ts.isBlock(statement)) insertions.push({ at: statement.getStart(source) + 1, text: '$tick();', order: -1 })
      else around(statement.getStart(source), statement.getEnd(), depth + 0.25, '{$tick();', '}')
    }
    ts.forEachChild(node, (child) => visit(child, depth + 1))
  }
  visit(source, 0)

  const places = Map.groupBy(
    mutants.map((mutant, index) => ({ mutant, number: firstNumber + index })),
    ({ mutant: { manner, start, end, depth } }) => [manner, start, end, depth].join(' '),
  )
  for (const here of places.values()) {
    const [{ mutant, number }] = here as [(typeof here)[number]]
    const { manner, start, end, depth } = mutant
    if (manner === 'replace') {
      const choices = here.map(
        (choice) => `${choice.mutant.isComparable ? '$on' : '$is'}(${choice.number})?(${choice.mutant.replacement}):`,
      )
      const compared = here.filter((choice) => choice.mutant.isComparable)
      const others = compared.map((choice) => `,${choice.number},()=>(${choice.mutant.replacement})`).join('')
      if (others === '') around(start, end, depth, `(${choices.join('')}(`, '))')
      else around(start, end, depth, `(${choices.join('')}$same((`, `)${others}))`)
    } else if (manner === 'omit') around(start, end, depth - 0.25, `{if(!$is(${number}))`, '}')
    else if (manner === 'break')
      insertions.push({ at: bodyOfClause(start, source), text: `if($is(${number}))break;`, order: -1 })
    else insertions.push({ at: start + 1, text: `if($is(${number}))${manner};`, order: 0 })
  }
  return withInsertions(`const {is:$is,on:$on,same:$same,tick:$tick}=globalThis.${SWITCH};`, text, insertions)
}

function isLoop(node: ts.Node): node is ts.IterationStatement {
  return ts.isIterationStatement(node, false)
}

/** The position behind the colon of the clause that starts at `start`. */
function bodyOfClause(start: number, source: ts.SourceFile): number {
  let at = start
  const visit = (node: ts.Node): void => {
    if (ts.isCaseOrDefaultClause(node) && node.getStart(source) === start)
      at = node.statements[0]?.getFullStart() ?? start
    ts.forEachChild(node, visit)
  }
  visit(source)
  return at
}

function withInsertions(prefix: string, text: string, insertions: readonly Insertion[]): string {
  const ordered = [...insertions].sort((a, b) => a.at - b.at || a.order - b.order)
  const parts = [prefix]
  let from = 0
  for (const { at, text: inserted } of ordered) {
    parts.push(text.slice(from, at), inserted)
    from = at
  }
  parts.push(text.slice(from))
  return parts.join('')
}
