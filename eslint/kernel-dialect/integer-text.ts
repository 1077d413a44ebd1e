/** The kernel's one helper that turns a number into text; it alone may do so in the ordinary way. */
import { AST_NODE_TYPES } from '@typescript-eslint/utils'
import type { TSESTree } from '@typescript-eslint/utils'

const HELPER = 'integerText'

export function isPartOfIntegerText(node: TSESTree.Node): boolean {
  if (node.type === AST_NODE_TYPES.FunctionDeclaration && node.id?.name === HELPER) return true
  return node.type !== AST_NODE_TYPES.Program && isPartOfIntegerText(node.parent)
}
