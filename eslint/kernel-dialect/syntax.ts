/** Forbids the parts of the language that have no true counterpart in Lua 5.1. */
import type { TSESTree } from '@typescript-eslint/utils'
import { createRule, ruleMeta } from './rule.ts'

const messages = {
  classes: 'The kernel has no classes: write functions over plain objects.',
  exceptions: 'The kernel neither throws nor catches: return a refusal, or call tx.fault for an impossible state.',
  async: 'The kernel is synchronous: what must wait belongs to the client, the engine or a store.',
  generators: 'The kernel has no generators: fill an array in a loop.',
  patterns: 'The kernel has no regular expressions: validate text at the boundary and pass the parsed value in.',
  bigIntegers: 'The kernel has no bigint: counters and money are integers up to Number.MAX_SAFE_INTEGER.',
  constructing: 'Nothing is constructed in the kernel: use plain objects, arrays and functions.',
  accessors: 'The kernel has no getters or setters: write a function.',
  deleting: 'Assign undefined to clear a field: delete is not part of the kernel’s dialect.',
  bits: 'Lua 5.1 has no bit operators: use arithmetic or a field for each flag.',
  spreadCall: 'Lua limits how many values a call can take: pass the array, or push in a loop.',
  keyLoop: 'Key order is undefined in Lua: loop over an array of names that you know.',
  labels: 'Return from a small function instead of jumping to a label.',
  self: 'Kernel functions have no receiver: pass the value as a parameter.',
  taggedTemplate: 'Call a function instead of tagging a template.',
  conversion: 'Text is turned into numbers at the boundary, never in the kernel.',
  keyTest: 'A field that is undefined does not exist in Lua: compare the field with undefined, or switch on the kind.',
  instanceTest: 'There are no classes to test for: switch on the kind.',
  modules: 'Kernel modules are joined when they are built: use a static import.',
  disposal: 'Nothing in the kernel needs disposing: it holds no resources.',
}

type Message = keyof typeof messages

const BIT_OPERATORS = '/^(&|\\||\\^|<<|>>|>>>)$/'
const BIT_ASSIGNMENTS = '/^(&|\\||\\^|<<|>>|>>>)=$/'

const forbidden: [selector: string, message: Message][] = [
  ['ClassDeclaration, ClassExpression', 'classes'],
  ['ThrowStatement, TryStatement', 'exceptions'],
  [':function[async=true], AwaitExpression, ForOfStatement[await=true]', 'async'],
  [':function[generator=true], YieldExpression', 'generators'],
  ['Literal[regex]', 'patterns'],
  ['Literal[bigint]', 'bigIntegers'],
  ['NewExpression', 'constructing'],
  ['Property[kind=/^(get|set)$/]', 'accessors'],
  ['UnaryExpression[operator="delete"]', 'deleting'],
  ['UnaryExpression[operator="~"]', 'bits'],
  [`BinaryExpression[operator=${BIT_OPERATORS}]`, 'bits'],
  [`AssignmentExpression[operator=${BIT_ASSIGNMENTS}]`, 'bits'],
  ['CallExpression > SpreadElement.arguments', 'spreadCall'],
  ['ForInStatement', 'keyLoop'],
  ['LabeledStatement', 'labels'],
  ['ThisExpression', 'self'],
  [':not(MemberExpression, Property) > Identifier[name="arguments"]', 'self'],
  ['TaggedTemplateExpression', 'taggedTemplate'],
  ['UnaryExpression[operator="+"]', 'conversion'],
  ['BinaryExpression[operator="in"]', 'keyTest'],
  ['BinaryExpression[operator="instanceof"]', 'instanceTest'],
  ['ImportExpression, MetaProperty', 'modules'],
  ['VariableDeclaration[kind=/using/]', 'disposal'],
]

export const syntax = createRule({
  meta: ruleMeta('Forbid syntax that does not compile to correct Lua', messages),
  create: (context) =>
    Object.fromEntries(
      forbidden.map(([selector, messageId]) => [
        selector,
        (node: TSESTree.Node) => {
          context.report({ node, messageId })
        },
      ]),
    ),
})
