/** The replacements of an expression. Each is one that has been a bug in some program: a limit off by one, a condition left out. */
import ts from 'typescript'
import { isComparedAsAbsent, onlyNarrows } from './without-effect.ts'

export interface Replacement {
  /** The expression that is replaced: the node itself, or the whole optional chain that it is in. */
  readonly place: ts.Node
  readonly text: string
}

const K = ts.SyntaxKind

const operators: ReadonlyMap<ts.SyntaxKind, readonly string[]> = new Map([
  [K.LessThanToken, ['<=', '>=']],
  [K.LessThanEqualsToken, ['<', '>']],
  [K.GreaterThanToken, ['>=', '<=']],
  [K.GreaterThanEqualsToken, ['>', '<']],
  [K.EqualsEqualsEqualsToken, ['!==']],
  [K.ExclamationEqualsEqualsToken, ['===']],
  [K.AmpersandAmpersandToken, ['||']],
  [K.BarBarToken, ['&&']],
  [K.PlusToken, ['-']],
  [K.MinusToken, ['+']],
  [K.AsteriskToken, ['/']],
  [K.SlashToken, ['*']],
  [K.PercentToken, ['*']],
  [K.LessThanLessThanToken, ['>>']],
  [K.GreaterThanGreaterThanToken, ['<<']],
  [K.GreaterThanGreaterThanGreaterThanToken, ['<<']],
  [K.AmpersandToken, ['|']],
  [K.BarToken, ['&']],
  [K.CaretToken, ['&']],
  [K.PlusEqualsToken, ['-=']],
  [K.MinusEqualsToken, ['+=']],
  [K.AsteriskEqualsToken, ['/=']],
  [K.QuestionQuestionEqualsToken, ['=']],
])

/** Methods with another that is easily confused with it. */
const methods: ReadonlyMap<string, string> = new Map([
  ['some', 'every'],
  ['every', 'some'],
  ['startsWith', 'endsWith'],
  ['endsWith', 'startsWith'],
  ['min', 'max'],
  ['max', 'min'],
  ['floor', 'ceil'],
  ['ceil', 'floor'],
  ['toLowerCase', 'toUpperCase'],
  ['toUpperCase', 'toLowerCase'],
  ['trimStart', 'trimEnd'],
  ['trimEnd', 'trimStart'],
])

/** Methods whose result is replaced by the value that they are called on. */
const leftOut: ReadonlySet<string> = new Set([
  'filter',
  'slice',
  'sort',
  'toSorted',
  'reverse',
  'toReversed',
  'trim',
  'normalize',
])

/** The least number of words of a text for people. */
const PROSE_WORDS = 3

export function replacementsOf(node: ts.Node, source: ts.SourceFile): Replacement[] {
  return [...ownReplacements(node, source), ...conditionReplacements(node)]
}

function ownReplacements(node: ts.Node, source: ts.SourceFile): Replacement[] {
  const replace = (text: string): Replacement[] => [{ place: node, text }]
  if (ts.isBinaryExpression(node)) return binaryReplacements(node, source)
  if (ts.isPrefixUnaryExpression(node)) return unaryReplacements(node, source)
  if (ts.isPostfixUnaryExpression(node)) {
    return replace(node.operand.getText(source) + (node.operator === K.PlusPlusToken ? '--' : '++'))
  }
  if (node.kind === K.TrueKeyword) return replace('false')
  if (node.kind === K.FalseKeyword) return replace('true')
  if (ts.isStringLiteral(node)) return textReplacements(node, node.text)
  if (ts.isNoSubstitutionTemplateLiteral(node) || ts.isTemplateExpression(node)) {
    return textReplacements(node, node.getText(source))
  }
  if (ts.isArrayLiteralExpression(node)) {
    return node.elements.length > 0 && !isAssigned(node) ? replace('[]') : []
  }
  if (ts.isObjectLiteralExpression(node)) {
    return node.properties.length > 0 && !isAssigned(node) ? replace('{}') : []
  }
  if (ts.isArrowFunction(node) && !ts.isBlock(node.body)) return replace('() => undefined')
  if (ts.isPropertyAccessExpression(node) || ts.isElementAccessExpression(node) || ts.isCallExpression(node)) {
    return [...chainReplacements(node, source), ...methodReplacements(node, source)]
  }
  return []
}

function binaryReplacements(node: ts.BinaryExpression, source: ts.SourceFile): Replacement[] {
  const { left, right, operatorToken } = node
  const [leftText, rightText] = [left.getText(source), right.getText(source)]
  if (operatorToken.kind === K.QuestionQuestionToken) {
    const fallback = { place: node, text: rightText }
    return isComparedAsAbsent(node) ? [fallback] : [{ place: node, text: leftText }, fallback]
  }
  if (operatorToken.kind === K.PlusToken && (isText(left) || isText(right))) return []
  return (operators.get(operatorToken.kind) ?? []).map((operator) => ({
    place: node,
    // A mixture of operators needs parentheses; those around an assignment's target would be an error.
    text:
      operator.endsWith('=') && ts.isIdentifier(left)
        ? `${leftText} ${operator} ${rightText}`
        : mixed(node, operator, source),
  }))
}

function mixed({ left, right, operatorToken }: ts.BinaryExpression, operator: string, source: ts.SourceFile): string {
  const isAssignment = operatorToken.kind >= K.FirstAssignment && operatorToken.kind <= K.LastAssignment
  const leftText = left.getText(source)
  return `${isAssignment ? leftText : `(${leftText})`} ${operator} (${right.getText(source)})`
}

function isText(node: ts.Expression): boolean {
  if (ts.isBinaryExpression(node)) return isText(node.left) || isText(node.right)
  return ts.isStringLiteralLike(node) || ts.isTemplateExpression(node)
}

function unaryReplacements(node: ts.PrefixUnaryExpression, source: ts.SourceFile): Replacement[] {
  const operand = node.operand.getText(source)
  if (node.operator === K.ExclamationToken || node.operator === K.MinusToken) return [{ place: node, text: operand }]
  if (node.operator === K.PlusPlusToken) return [{ place: node, text: `--${operand}` }]
  if (node.operator === K.MinusMinusToken) return [{ place: node, text: `++${operand}` }]
  return []
}

function textReplacements(node: ts.Expression, text: string): Replacement[] {
  const { parent } = node
  const isName =
    (ts.isPropertyAssignment(parent) || ts.isMethodDeclaration(parent)) && parent.name === (node as ts.Node)
  if (isName || ts.isTaggedTemplateExpression(parent) || ts.isComputedPropertyName(parent)) return []
  if (text.split(' ').length >= PROSE_WORDS) return []
  return [{ place: node, text: text === '' ? "'mutated'" : "''" }]
}

/** Whether a literal is the target of an assignment, and not a value. */
function isAssigned(node: ts.Node): boolean {
  const { parent } = node
  return ts.isBinaryExpression(parent) && parent.operatorToken.kind === K.EqualsToken && parent.left === node
}

type Link = ts.PropertyAccessExpression | ts.ElementAccessExpression | ts.CallExpression

/** `a?.b` without its question. Its place is the whole chain, because the chain ends where the question is answered. */
function chainReplacements(node: Link, source: ts.SourceFile): Replacement[] {
  const { questionDotToken } = node
  if (questionDotToken === undefined) return []
  const text = ts.isPropertyAccessExpression(node) ? '.' : ''
  return [inPlace(outermostLink(node), questionDotToken.getStart(source), questionDotToken.getEnd(), text, source)]
}

function methodReplacements(node: Link, source: ts.SourceFile): Replacement[] {
  if (!ts.isCallExpression(node) || !ts.isPropertyAccessExpression(node.expression)) return []
  const { name, expression } = node.expression
  const place = outermostLink(node)
  const other = methods.get(name.text)
  if (other !== undefined) return [inPlace(place, name.getStart(source), name.getEnd(), other, source)]
  if (!leftOut.has(name.text) || node.expression.questionDotToken !== undefined) return []
  return [inPlace(place, expression.getEnd(), node.getEnd(), '', source)]
}

/** The text of `place` with another text from `start` to `end`. */
function inPlace(place: ts.Node, start: number, end: number, text: string, source: ts.SourceFile): Replacement {
  const whole = source.text
  return { place, text: whole.slice(place.getStart(source), start) + text + whole.slice(end, place.getEnd()) }
}

/** The last link of the chain that a node is in: a part of a chain cannot be replaced, because its object would be lost. */
function outermostLink(node: ts.Expression): ts.Expression {
  let link = node
  for (;;) {
    const { parent } = link
    const isObject =
      (ts.isPropertyAccessExpression(parent) || ts.isElementAccessExpression(parent) || ts.isCallExpression(parent)) &&
      parent.expression === link
    if (!isObject && !(ts.isNonNullExpression(parent) && isLink(parent.parent))) return link
    link = parent
  }
}

function isLink(node: ts.Node): node is Link {
  return ts.isPropertyAccessExpression(node) || ts.isElementAccessExpression(node) || ts.isCallExpression(node)
}

/** Conditions that always or never hold, and operands of a condition that are left out. */
function conditionReplacements(node: ts.Node): Replacement[] {
  const always = (place: ts.Node, ...texts: readonly string[]): Replacement[] => texts.map((text) => ({ place, text }))
  if (ts.isIfStatement(node)) return always(node.expression, 'true', 'false')
  if (ts.isConditionalExpression(node)) return always(node.condition, 'true', 'false')
  if (ts.isWhileStatement(node) || ts.isDoStatement(node)) return always(node.expression, 'false')
  if (ts.isForStatement(node)) return node.condition === undefined ? [] : always(node.condition, 'false')
  if (!ts.isBinaryExpression(node)) return []
  const operator = node.operatorToken.kind
  if (operator !== K.AmpersandAmpersandToken && operator !== K.BarBarToken) return []
  const neutral = operator === K.AmpersandAmpersandToken ? 'true' : 'false'
  return [node.left, node.right]
    .filter((operand) => !isSameOperator(operand, operator) && !isNarrowing(operand, node))
    .flatMap((operand) => always(operand, neutral))
}

/** In `a && b && c`, the left side of `c` is `a && b`, and `b` is an operand of that. */
function isNarrowing(operand: ts.Expression, node: ts.BinaryExpression): boolean {
  const { parent } = node
  const isLast = node.right === operand && ts.isBinaryExpression(parent) && parent.left === node
  return onlyNarrows(operand, isLast ? parent : node)
}

/** `a && b` in `a && b && c` is no operand of its own: its operands are left out one by one. */
function isSameOperator(operand: ts.Expression, operator: ts.SyntaxKind): boolean {
  return ts.isBinaryExpression(operand) && operand.operatorToken.kind === operator
}
