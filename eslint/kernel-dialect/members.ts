/** Allows the members of strings and arrays that behave alike in JavaScript and in Lua, and forbids all others. */
import { AST_NODE_TYPES } from '@typescript-eslint/utils'
import type { TSESTree } from '@typescript-eslint/utils'
import ts from 'typescript'
import { isPartOfIntegerText } from './integer-text.ts'
import { createRule, elementType, isAlways, ruleMeta, typeQuestions } from './rule.ts'

const stringMembers = [
  'length',
  'charAt',
  'charCodeAt',
  'endsWith',
  'includes',
  'indexOf',
  'slice',
  'split',
  'startsWith',
  'substring',
]

const arrayMembers = [
  'length',
  'concat',
  'every',
  'filter',
  'find',
  'findIndex',
  'forEach',
  'includes',
  'indexOf',
  'join',
  'map',
  'pop',
  'push',
  'reduce',
  'reverse',
  'shift',
  'slice',
  'some',
  'splice',
  'unshift',
]

const sorting = ['sort', 'toSorted']

export const members = createRule({
  meta: ruleMeta('Allow only members that behave alike in Lua', {
    sort: 'Lua’s sort is unstable and breaks on an inconsistent order: use sortBy with a total order, id last.',
    string:
      'String.{{name}} is not part of the kernel’s dialect: text is prepared at the boundary. Allowed: {{allowed}}.',
    array: 'Array.{{name}} is not part of the kernel’s dialect: write a loop. Allowed: {{allowed}}.',
    number: 'Lua prints 14 digits only: numbers become text through integerText.',
    numberKey: 'Lua keeps the keys 1 and "1" apart: use integerText for the key, or an array.',
  }),
  create(context) {
    const { checker, typeOf } = typeQuestions(context)

    function checkName(node: TSESTree.MemberExpression, name: string): void {
      const owner = checker.getNonNullableType(typeOf(node.object))
      if (owner.flags & (ts.TypeFlags.Never | ts.TypeFlags.Any)) return
      if (isAlways(owner, ts.TypeFlags.StringLike)) {
        if (stringMembers.includes(name)) return
        context.report({ node: node.property, messageId: 'string', data: { name, allowed: stringMembers.join(', ') } })
      } else if (isAlways(owner, ts.TypeFlags.NumberLike)) {
        if (!isPartOfIntegerText(node)) context.report({ node: node.property, messageId: 'number' })
      } else if (elementType(checker, owner) !== undefined) {
        if (arrayMembers.includes(name)) return
        const data = { name, allowed: arrayMembers.join(', ') }
        context.report({ node: node.property, messageId: sorting.includes(name) ? 'sort' : 'array', data })
      }
    }

    function checkKey(node: TSESTree.MemberExpression): void {
      const owner = checker.getNonNullableType(typeOf(node.object))
      if (isAlways(owner, ts.TypeFlags.StringLike) || elementType(checker, owner) !== undefined) return
      if (isAlways(typeOf(node.property), ts.TypeFlags.NumberLike)) {
        context.report({ node: node.property, messageId: 'numberKey' })
      }
    }

    return {
      MemberExpression(node) {
        if (node.computed) checkKey(node)
        else if (node.property.type === AST_NODE_TYPES.Identifier) checkName(node, node.property.name)
      },
    }
  },
})
