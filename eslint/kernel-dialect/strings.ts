/** Text is made of text and compared for equality only: Lua prints numbers, and orders strings, in its own way. */
import { AST_NODE_TYPES } from '@typescript-eslint/utils'
import type { TSESTree } from '@typescript-eslint/utils'
import ts from 'typescript'
import { isPartOfIntegerText } from './integer-text.ts'
import { createRule, elementType, isAlways, maybe, ruleMeta, typeQuestions } from './rule.ts'

const STRING = ts.TypeFlags.StringLike
const NUMBER = ts.TypeFlags.NumberLike

export const strings = createRule({
  meta: ruleMeta('Build text from strings, and compare it for equality only', {
    number: 'Lua prints 14 digits only: put numbers into text through integerText.',
    other: 'Only strings may be joined into text: Lua prints other values differently.',
    order: 'Lua orders strings by the collation of the server’s locale: compare them character code by character code.',
  }),
  create(context) {
    const { checker, typeOf } = typeQuestions(context)

    function checkPart(node: TSESTree.Node, type: ts.Type = typeOf(node)): void {
      if (isAlways(type, STRING) || isPartOfIntegerText(node)) return
      context.report({ node, messageId: maybe(type, NUMBER) ? 'number' : 'other' })
    }

    function checkJoin(left: TSESTree.Node, right: TSESTree.Node): void {
      const [leftIsText, rightIsText] = [maybe(typeOf(left), STRING), maybe(typeOf(right), STRING)]
      if (!leftIsText && !rightIsText) return
      checkPart(left)
      checkPart(right)
    }

    return {
      TemplateLiteral: (node) => {
        for (const part of node.expressions) checkPart(part)
      },
      'BinaryExpression[operator="+"]': (node: TSESTree.BinaryExpression) => {
        checkJoin(node.left, node.right)
      },
      'AssignmentExpression[operator="+="]': (node: TSESTree.AssignmentExpression) => {
        checkJoin(node.left, node.right)
      },
      'BinaryExpression[operator=/^[<>]=?$/]': (node: TSESTree.BinaryExpression) => {
        if (maybe(typeOf(node.left), STRING) || maybe(typeOf(node.right), STRING)) {
          context.report({ node, messageId: 'order' })
        }
      },
      'CallExpression > MemberExpression.callee[property.name="join"]': (node: TSESTree.MemberExpression) => {
        if (node.property.type !== AST_NODE_TYPES.Identifier) return
        const element = elementType(checker, checker.getNonNullableType(typeOf(node.object)))
        if (element !== undefined) checkPart(node.object, element)
      },
    }
  },
})
