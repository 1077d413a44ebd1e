/** Only booleans may be tested: 0 and '' are true in Lua. */
import { AST_NODE_TYPES } from '@typescript-eslint/utils'
import type { TSESTree } from '@typescript-eslint/utils'
import ts from 'typescript'
import { createRule, elementType, isAlways, ruleMeta, typeQuestions } from './rule.ts'

const predicateMethods = ['every', 'filter', 'find', 'findIndex', 'some']

export const booleanTests = createRule({
  meta: ruleMeta('Test booleans only', {
    test: 'Only a boolean may be tested, because 0 and \'\' are true in Lua: compare explicitly, as in "!== undefined" or "> 0".',
    or: "Use ?? for a default: || gives another answer in Lua for 0 and ''. Both sides of || must be boolean.",
    predicate: "This callback must return a boolean, because 0 and '' are true in Lua.",
  }),
  create(context) {
    const { checker, typeOf } = typeQuestions(context)

    function isBoolean(node: TSESTree.Node): boolean {
      return isAlways(typeOf(node), ts.TypeFlags.BooleanLike)
    }

    function isLogical(node: TSESTree.Node): node is TSESTree.LogicalExpression {
      return node.type === AST_NODE_TYPES.LogicalExpression && node.operator !== '??'
    }

    /** The left side of a logical expression is always tested, so the visitor below has looked at it already. */
    function checkTest(node: TSESTree.Node | null): void {
      if (node === null) return
      if (isLogical(node)) {
        if (node.operator === '&&') checkTest(node.right)
      } else if (!isBoolean(node)) {
        context.report({ node, messageId: 'test' })
      }
    }

    function checkOr(node: TSESTree.Node, left: TSESTree.Node, right: TSESTree.Node): void {
      if (!isBoolean(left) || !isBoolean(right)) context.report({ node, messageId: 'or' })
    }

    function checkPredicate(callback: TSESTree.Node): void {
      const signatures = typeOf(callback).getCallSignatures()
      const areBoolean = signatures.every((signature) => {
        const returned = checker.getReturnTypeOfSignature(signature)
        return isAlways(checker.getBaseConstraintOfType(returned) ?? returned, ts.TypeFlags.BooleanLike)
      })
      if (!areBoolean) context.report({ node: callback, messageId: 'predicate' })
    }

    return {
      IfStatement: (node) => {
        checkTest(node.test)
      },
      ConditionalExpression: (node) => {
        checkTest(node.test)
      },
      WhileStatement: (node) => {
        checkTest(node.test)
      },
      DoWhileStatement: (node) => {
        checkTest(node.test)
      },
      ForStatement: (node) => {
        checkTest(node.test)
      },
      'UnaryExpression[operator="!"]': (node: TSESTree.UnaryExpression) => {
        checkTest(node.argument)
      },
      LogicalExpression: (node) => {
        if (node.operator === '||') checkOr(node, node.left, node.right)
        else if (node.operator === '&&') checkTest(node.left)
      },
      AssignmentExpression: (node) => {
        if (node.operator === '||=') checkOr(node, node.left, node.right)
        else if (node.operator === '&&=') checkTest(node.left)
      },
      'CallExpression > MemberExpression.callee': (node: TSESTree.MemberExpression) => {
        const { parent, property } = node
        if (parent.type !== AST_NODE_TYPES.CallExpression || property.type !== AST_NODE_TYPES.Identifier) return
        const [callback] = parent.arguments
        if (callback === undefined || !predicateMethods.includes(property.name)) return
        if (elementType(checker, checker.getNonNullableType(typeOf(node.object))) !== undefined)
          checkPredicate(callback)
      },
    }
  },
})
