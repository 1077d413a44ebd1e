/** Allows the few globals that mean the same in JavaScript and in Lua, and forbids all others. */
import { AST_NODE_TYPES } from '@typescript-eslint/utils'
import type { TSESLint, TSESTree } from '@typescript-eslint/utils'
import { isPartOfIntegerText } from './integer-text.ts'
import { createRule, ruleMeta } from './rule.ts'

const allowedMembers: Record<string, readonly string[]> = {
  Math: ['abs', 'ceil', 'floor', 'max', 'min', 'pow'],
  Number: ['MAX_SAFE_INTEGER', 'MIN_SAFE_INTEGER', 'isFinite', 'isInteger'],
}

const allowedGlobals = ['undefined', 'Infinity']

const advice: Record<string, string> = {
  Array: 'Start from [] and push.',
  Boolean: 'Compare explicitly.',
  Date: 'The time is tx.now.',
  JSON: 'JSON is the work of the client and the stores.',
  Map: 'Use a plain object or an array.',
  Object: 'Key order is undefined in Lua: name the fields, or loop over an array of names.',
  Promise: 'The kernel is synchronous.',
  RegExp: 'Validate text at the boundary.',
  Set: 'Use a plain object or an array.',
  String: 'Numbers become text through integerText.',
  WeakMap: 'Use a plain object or an array.',
  console: 'Emit an event, or answer with what happened.',
  crypto: 'Ids and hashes are inputs.',
  parseInt: 'Text is turned into numbers at the boundary.',
  performance: 'The time is tx.now.',
  random: 'Randomness is an input seed.',
}

function memberName(identifier: TSESTree.Node): string | undefined {
  const { parent } = identifier
  if (parent?.type !== AST_NODE_TYPES.MemberExpression || parent.object !== identifier || parent.computed) {
    return undefined
  }
  return parent.property.type === AST_NODE_TYPES.Identifier ? parent.property.name : undefined
}

export const globals = createRule({
  meta: ruleMeta('Allow only globals that mean the same in Lua', {
    global: '{{name}} is not part of the kernel’s dialect. {{advice}}',
  }),
  create(context) {
    function check({ identifier, isValueReference }: TSESLint.Scope.Reference): void {
      if (!isValueReference || isPartOfIntegerText(identifier)) return
      const { name } = identifier as TSESTree.Identifier
      if (allowedGlobals.includes(name)) return
      const member = memberName(identifier)
      const known = allowedMembers[name]
      if (known === undefined || member === undefined) {
        context.report({ node: identifier, messageId: 'global', data: { name, advice: advice[name] ?? '' } })
      } else if (!known.includes(member)) {
        const data = { name: `${name}.${member}`, advice: advice[member] ?? `Allowed: ${known.join(', ')}.` }
        context.report({ node: identifier, messageId: 'global', data })
      }
    }
    return {
      'Program:exit'(program) {
        const scope = context.sourceCode.getScope(program)
        for (const reference of scope.through) check(reference)
        for (const variable of scope.variables) {
          if (variable.defs.length === 0) variable.references.forEach(check)
        }
      },
    }
  },
})
