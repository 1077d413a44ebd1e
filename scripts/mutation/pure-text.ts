/** Finds out whether the text of an expression only reads: evaluating it once more, or in vain, has no effect. */
import ts from 'typescript'

const K = ts.SyntaxKind

export function isPure(text: string): boolean {
  const source = ts.createSourceFile('expression.ts', `(${text})`, ts.ScriptTarget.ES2024, true, ts.ScriptKind.TS)
  return source.statements.every((statement) => ts.isExpressionStatement(statement) && isPureNode(statement.expression))
}

function isPureNode(node: ts.Expression): boolean {
  if (ts.isParenthesizedExpression(node) || ts.isNonNullExpression(node) || ts.isAsExpression(node))
    return isPureNode(node.expression)
  if (ts.isPropertyAccessExpression(node)) return isPureNode(node.expression)
  if (ts.isElementAccessExpression(node)) return isPureNode(node.expression) && isPureNode(node.argumentExpression)
  if (ts.isTypeOfExpression(node)) return isPureNode(node.expression)
  if (ts.isPrefixUnaryExpression(node)) {
    return node.operator !== K.PlusPlusToken && node.operator !== K.MinusMinusToken && isPureNode(node.operand)
  }
  if (ts.isBinaryExpression(node)) return !isAssignment(node) && isPureNode(node.left) && isPureNode(node.right)
  return (
    ts.isIdentifier(node) ||
    ts.isNumericLiteral(node) ||
    ts.isStringLiteralLike(node) ||
    [K.TrueKeyword, K.FalseKeyword, K.ThisKeyword].includes(node.kind)
  )
}

function isAssignment({ operatorToken: { kind } }: ts.BinaryExpression): boolean {
  return kind >= K.FirstAssignment && kind <= K.LastAssignment
}
