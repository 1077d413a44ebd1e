/**
 * Finds the mutants of a source file: small changes of its behaviour that a test should notice. Each is a replacement of an expression
 * or of a statement, so that one text of the file can contain all of them behind switches (`instrument.ts`).
 *
 * Code that runs once, when its module is loaded, has no mutants: a switch would come too late. Those are tables of data, which the
 * schema lock, the golden files and the generated pages compare as a whole. Texts for people are not behaviour and have none either,
 * and neither has code whose form shows that a change would have no effect.
 */
import ts from 'typescript'
import { isPure } from './pure-text.ts'
import { replacementsOf } from './replacements.ts'
import { loadTimeFunctions, returnsNothing } from './without-effect.ts'

/** How a mutant is switched on: by replacing an expression, by leaving a statement out, or by leaving a block early. */
export type Manner = 'replace' | 'omit' | 'return' | 'break' | 'continue'

export interface Mutant {
  readonly file: string
  readonly manner: Manner
  /** What is replaced or left out: the text from `start` to `end`. */
  readonly start: number
  readonly end: number
  /** The nesting depth of the node, which orders replacements of the same text. */
  readonly depth: number
  /** The text in its place. Empty where nothing takes its place. */
  readonly replacement: string
  /** Whether the replacement can be evaluated beside the original, to see whether it makes a difference. */
  readonly isComparable: boolean
  readonly line: number
  /** The innermost named function around it. */
  readonly within: string
  /** The text of the function or the member of a class that contains it, at the top of its file. */
  readonly part: string
  /** Where the part starts. */
  readonly partStart: number
  /** The change as one line of text, `before → after`. */
  readonly change: string
}

/** A longer text is shortened in the middle. */
const CHANGE_MAX_LENGTH = 160

export function parseSource(file: string, text: string): ts.SourceFile {
  return ts.createSourceFile(file, text, ts.ScriptTarget.ES2024, true, ts.ScriptKind.TS)
}

export function mutantsOf(file: string, text: string): Mutant[] {
  const source = parseSource(file, text)
  const mutants: Mutant[] = []
  const onlyAtLoad = loadTimeFunctions(source)

  const add = (node: ts.Node, manner: Manner, replacement: string, depth: number): void => {
    const start = node.getStart(source)
    const [before, after] = [oneLine(node.getText(source)), oneLine(replacement)]
    mutants.push({
      file,
      manner,
      start,
      end: node.getEnd(),
      depth,
      replacement,
      isComparable: manner === 'replace' && isComparable(node.getText(source), replacement),
      line: source.getLineAndCharacterOfPosition(start).line + 1,
      within: nameAround(node),
      ...partAround(node, source),
      change: manner === 'replace' ? `${before} → ${after}` : `${before} → nothing`,
    })
  }

  const visit = (node: ts.Node, depth: number, isInFunction: boolean): void => {
    if (isWithoutBehaviour(node) || onlyAtLoad.has(node)) return
    if (isInFunction) {
      for (const { place, text: replacement } of replacementsOf(node, source)) {
        add(place, 'replace', replacement, depthOf(place))
      }
      const manner = omissionOf(node)
      if (manner !== undefined) add(node, manner, '', depth)
    }
    ts.forEachChild(node, (child) => visit(child, depth + 1, isInFunction || isBodyOf(child, node)))
  }
  visit(source, 0, false)
  return mutants
}

/** A constant is compared with any value. What reads may see other values after calls that the original makes. */
function isComparable(original: string, replacement: string): boolean {
  return isConstant(replacement) || (isPure(replacement) && isPure(original))
}

function isConstant(text: string): boolean {
  return ['true', 'false', "''"].includes(text)
}

function depthOf(node: ts.Node): number {
  let depth = 0
  for (let parent: ts.Node = node; !ts.isSourceFile(parent); parent = parent.parent) depth += 1
  return depth
}

function isWithoutBehaviour(node: ts.Node): boolean {
  return (
    ts.isTypeNode(node) ||
    ts.isInterfaceDeclaration(node) ||
    ts.isTypeAliasDeclaration(node) ||
    ts.isImportDeclaration(node) ||
    ts.isExportDeclaration(node) ||
    ts.isTypeParameterDeclaration(node)
  )
}

/** Whether code of `child` runs each time that the function `parent` is called. Defaults of parameters do too. */
function isBodyOf(child: ts.Node, parent: ts.Node): boolean {
  if (!ts.isFunctionLike(parent) || !('body' in parent)) return false
  return parent.body === child || ts.isParameter(child)
}

/** Whether and how a statement is left out. A block is left out where leaving out its only statement would not do the same. */
function omissionOf(node: ts.Node): Manner | undefined {
  if (ts.isExpressionStatement(node)) return isRemovable(node.expression) ? 'omit' : undefined
  if (ts.isCaseOrDefaultClause(node)) {
    return node.statements.length > 0 && !returnsNothing(node.statements, node.parent.parent) ? 'break' : undefined
  }
  if (!ts.isBlock(node) || node.statements.length === 0 || returnsNothing(node.statements, node)) return undefined
  const [only] = node.statements.length === 1 ? node.statements : []
  if (only !== undefined && (ts.isExpressionStatement(only) || ts.isIfStatement(only))) return undefined
  const { parent } = node
  if (ts.isConstructorDeclaration(parent)) return undefined
  if (ts.isFunctionLike(parent)) return 'return'
  if (ts.isForOfStatement(parent) || ts.isForStatement(parent) || ts.isForInStatement(parent)) return 'continue'
  if (ts.isIfStatement(parent) && parent.elseStatement === node) return 'omit'
  if (ts.isCatchClause(parent) || (ts.isTryStatement(parent) && parent.finallyBlock === node)) return 'omit'
  return undefined
}

function isRemovable(expression: ts.Expression): boolean {
  if (ts.isAwaitExpression(expression)) return isRemovable(expression.expression)
  if (ts.isCallExpression(expression)) return expression.expression.kind !== ts.SyntaxKind.SuperKeyword
  if (ts.isDeleteExpression(expression)) return true
  return (
    ts.isBinaryExpression(expression) &&
    expression.operatorToken.kind >= ts.SyntaxKind.FirstAssignment &&
    expression.operatorToken.kind <= ts.SyntaxKind.LastAssignment
  )
}

function nameAround(node: ts.Node): string {
  for (let parent: ts.Node = node; !ts.isSourceFile(parent); parent = parent.parent) {
    if (!ts.isFunctionLike(parent)) continue
    if (ts.isConstructorDeclaration(parent)) return 'constructor'
    if (parent.name !== undefined) return parent.name.getText()
    if (ts.isVariableDeclaration(parent.parent) || ts.isPropertyAssignment(parent.parent)) {
      return parent.parent.name.getText()
    }
  }
  return ''
}

function partAround(node: ts.Node, source: ts.SourceFile): Pick<Mutant, 'part' | 'partStart'> {
  let part = node
  while (!ts.isSourceFile(part.parent) && !ts.isClassLike(part.parent)) part = part.parent
  return { part: part.getText(source), partStart: part.getStart(source) }
}

function oneLine(text: string): string {
  const line = text.replaceAll(/\s+/g, ' ')
  if (line.length <= CHANGE_MAX_LENGTH) return line
  return `${line.slice(0, CHANGE_MAX_LENGTH / 2)} … ${line.slice(-CHANGE_MAX_LENGTH / 2)}`
}
