/**
 * Absent is undefined and only that, and an absent value takes no place in a Lua table. So a spread cannot clear a field,
 * and an array with a hole has no length.
 */
import { AST_NODE_TYPES } from '@typescript-eslint/utils'
import type { TSESTree } from '@typescript-eslint/utils'
import type ts from 'typescript'
import { createRule, elementType, maybeUndefined, ruleMeta, typeQuestions } from './rule.ts'

const addingMethods = ['push', 'unshift', 'splice']

export const absentValues = createRule({
  meta: ruleMeta('Keep absent values out of spreads and arrays', {
    null: 'Absent is undefined, and only that: the kernel has no null.',
    clearing:
      'In Lua an undefined value does not override the spread field "{{name}}": spread first, then assign undefined.',
    absentSpread: 'Spreading something that may be undefined loses the spreads after it in Lua: decide with an if.',
    hole: 'An array must not hold undefined: in Lua it would end there. Leave the element out.',
  }),
  create(context) {
    const { checker, typeOf } = typeQuestions(context)

    /** An optional property is merely absent; one that may hold undefined would override in JavaScript, but not in Lua. */
    function mayHoldUndefined(type: ts.Type): boolean {
      const members = type.isUnion() ? type.types : [type]
      return members.includes(checker.getUndefinedType())
    }

    function propertyName(property: TSESTree.Property): string | undefined {
      if (property.computed) return undefined
      if (property.key.type === AST_NODE_TYPES.Identifier) return property.key.name
      return String(property.key.value)
    }

    function checkObject(node: TSESTree.ObjectExpression): void {
      if (!node.properties.some((part) => part.type === AST_NODE_TYPES.SpreadElement)) return
      const given = new Set<string>()
      for (const part of node.properties) {
        if (part.type === AST_NODE_TYPES.Property) {
          const name = propertyName(part)
          if (name === undefined) continue
          if (given.has(name) && maybeUndefined(typeOf(part.value))) {
            context.report({ node: part, messageId: 'clearing', data: { name } })
          }
          given.add(name)
          continue
        }
        const spread = typeOf(part.argument)
        if (maybeUndefined(spread)) context.report({ node: part, messageId: 'absentSpread' })
        for (const property of checker.getPropertiesOfType(checker.getNonNullableType(spread))) {
          if (given.has(property.name) && mayHoldUndefined(checker.getTypeOfSymbol(property))) {
            context.report({ node: part, messageId: 'clearing', data: { name: property.name } })
          }
          given.add(property.name)
        }
      }
    }

    function hasHoles(type: ts.Type): boolean {
      const element = elementType(checker, type)
      return element !== undefined && maybeUndefined(element)
    }

    function checkElement(node: TSESTree.Node): void {
      if (node.type !== AST_NODE_TYPES.SpreadElement && maybeUndefined(typeOf(node))) {
        context.report({ node, messageId: 'hole' })
      }
    }

    return {
      'Literal[value=null][raw="null"]': (node: TSESTree.Literal) => {
        context.report({ node, messageId: 'null' })
      },
      TSNullKeyword: (node) => {
        context.report({ node, messageId: 'null' })
      },
      ObjectExpression: checkObject,
      ArrayExpression: (node) => {
        for (const element of node.elements) {
          if (element === null) context.report({ node, messageId: 'hole' })
          else checkElement(element)
        }
      },
      CallExpression: (node) => {
        const { callee } = node
        if (hasHoles(typeOf(node))) context.report({ node, messageId: 'hole' })
        if (callee.type !== AST_NODE_TYPES.MemberExpression || callee.property.type !== AST_NODE_TYPES.Identifier)
          return
        if (!addingMethods.includes(callee.property.name)) return
        if (elementType(checker, checker.getNonNullableType(typeOf(callee.object))) !== undefined) {
          node.arguments.forEach(checkElement)
        }
      },
      'AssignmentExpression > MemberExpression.left[computed=true]': (node: TSESTree.MemberExpression) => {
        const { parent } = node
        if (parent.type !== AST_NODE_TYPES.AssignmentExpression) return
        if (elementType(checker, checker.getNonNullableType(typeOf(node.object))) !== undefined)
          checkElement(parent.right)
      },
      TSArrayType: (node) => {
        if (hasHoles(typeOf(node))) context.report({ node, messageId: 'hole' })
      },
      'TSTypeReference[typeName.name=/^(Readonly)?Array$/]': (node: TSESTree.TSTypeReference) => {
        if (hasHoles(typeOf(node))) context.report({ node, messageId: 'hole' })
      },
    }
  },
})
