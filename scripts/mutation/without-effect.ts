/** Finds code whose change nothing can notice, by its form alone: it has no mutants. */
import ts from 'typescript'

const K = ts.SyntaxKind

/**
 * The functions of a file that only run when it is loaded: they are not exported, and no code inside of another function names
 * them. Their results are tables of data, as those of statements outside of functions are.
 */
export function loadTimeFunctions(source: ts.SourceFile): ReadonlySet<ts.Node> {
  const candidates = new Map<string, ts.FunctionDeclaration>()
  for (const statement of source.statements) {
    if (!ts.isFunctionDeclaration(statement) || statement.name === undefined) continue
    const isExported = statement.modifiers?.some(({ kind }) => kind === K.ExportKeyword) === true
    if (!isExported) candidates.set(statement.name.text, statement)
  }
  for (;;) {
    const { atLoad, later } = namesIn(source, new Set(candidates.values()))
    const before = candidates.size
    for (const name of candidates.keys()) if (later.has(name) || !atLoad.has(name)) candidates.delete(name)
    if (candidates.size === before) return new Set(candidates.values())
  }
}

/** The names that code uses while the file is loaded, that of the given functions included, and those that code uses later. */
function namesIn(source: ts.SourceFile, loading: ReadonlySet<ts.Node>): Record<'atLoad' | 'later', Set<string>> {
  const names = { atLoad: new Set<string>(), later: new Set<string>() }
  const visit = (node: ts.Node, isLater: boolean): void => {
    const isDeclared = ts.isFunctionDeclaration(node.parent) && node.parent.name === node
    if (ts.isIdentifier(node) && !isDeclared) names[isLater ? 'later' : 'atLoad'].add(node.text)
    const isFunction = ts.isFunctionLike(node) && !loading.has(node)
    ts.forEachChild(node, (child) => visit(child, isLater || isFunction))
  }
  ts.forEachChild(source, (child) => visit(child, false))
  return names
}

/** Whether a block or a clause only returns nothing, and the function would return nothing without it too. */
export function returnsNothing(statements: readonly ts.Statement[], end: ts.Node): boolean {
  const [only] = statements
  if (statements.length !== 1 || only === undefined || !ts.isReturnStatement(only)) return false
  const { expression } = only
  const isNothing = expression === undefined || (ts.isIdentifier(expression) && expression.text === 'undefined')
  return isNothing && isLastInFunction(end)
}

/** Whether a function ends after a node. */
function isLastInFunction(node: ts.Node): boolean {
  const { parent } = node
  if (ts.isFunctionLike(node)) return true
  if (ts.isBlock(parent) && parent.statements.at(-1) !== node) return false
  if (ts.isIterationStatement(parent, false)) return false
  return isLastInFunction(parent)
}

/**
 * Whether an operand only narrows a type: in `a !== undefined && a < b`, the comparison of an absent value never holds either.
 */
export function onlyNarrows(operand: ts.Expression, chain: ts.BinaryExpression): boolean {
  if (chain.operatorToken.kind !== K.AmpersandAmpersandToken || !ts.isBinaryExpression(operand)) return false
  const { left, right, operatorToken } = operand
  const isNarrowing =
    operatorToken.kind === K.ExclamationEqualsEqualsToken && ts.isIdentifier(right) && right.text === 'undefined'
  const compared = chain.right
  return isNarrowing && operand === lastOperand(chain.left) && isOrdered(compared, left.getText())
}

function lastOperand(node: ts.Expression): ts.Expression {
  const isChain = ts.isBinaryExpression(node) && node.operatorToken.kind === K.AmpersandAmpersandToken
  return isChain ? node.right : node
}

/** Whether an expression is a comparison by order, with the given text as one of its sides. */
function isOrdered(node: ts.Expression, side: string): boolean {
  if (!ts.isBinaryExpression(node)) return false
  const { kind } = node.operatorToken
  const isOrder = [K.LessThanToken, K.LessThanEqualsToken, K.GreaterThanToken, K.GreaterThanEqualsToken].includes(kind)
  return isOrder && (node.left.getText() === side || node.right.getText() === side)
}

/** Whether `a ?? 0` is compared so that an absent value gives the same: `(a ?? 0) > 0`. */
export function isComparedAsAbsent(node: ts.BinaryExpression): boolean {
  if (!ts.isNumericLiteral(node.right) || node.right.text !== '0') return false
  let side: ts.Node = node
  while (ts.isParenthesizedExpression(side.parent)) side = side.parent
  const { parent } = side
  if (!ts.isBinaryExpression(parent) || parent.left !== side || !ts.isNumericLiteral(parent.right)) return false
  return parent.operatorToken.kind === K.GreaterThanToken
}
