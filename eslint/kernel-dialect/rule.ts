/** What the rules of the kernel's dialect share: how a rule is made and what it asks about types. */
import { ESLintUtils } from '@typescript-eslint/utils'
import type { TSESLint, TSESTree } from '@typescript-eslint/utils'
import ts from 'typescript'

export const createRule = ESLintUtils.RuleCreator.withoutDocs

/** Every rule has messages and no options. */
export function ruleMeta<MessageId extends string>(description: string, messages: Record<MessageId, string>) {
  return { type: 'problem' as const, docs: { description }, messages, schema: [], defaultOptions: [] }
}

/** Questions about the type of an expression, with type parameters replaced by what they extend. */
export interface TypeQuestions {
  readonly checker: ts.TypeChecker
  readonly typeOf: (node: TSESTree.Node) => ts.Type
}

export function typeQuestions(context: Readonly<TSESLint.RuleContext<string, readonly unknown[]>>): TypeQuestions {
  const services = ESLintUtils.getParserServices(context)
  const checker = services.program.getTypeChecker()
  return {
    checker,
    typeOf: (node) => {
      const type = services.getTypeAtLocation(node)
      return checker.getBaseConstraintOfType(type) ?? type
    },
  }
}

/** True if every member of a union is of one of the kinds. A branded value is of the kind that it brands. */
export function isAlways(type: ts.Type, flags: ts.TypeFlags): boolean {
  if (type.isUnion()) return type.types.every((member) => isAlways(member, flags))
  if (type.isIntersection()) return type.types.some((part) => isAlways(part, flags))
  return (type.flags & (flags | ts.TypeFlags.Never)) !== 0
}

/** True if some member of a union is of one of the kinds. */
export function maybe(type: ts.Type, flags: ts.TypeFlags): boolean {
  if (type.isUnion()) return type.types.some((member) => maybe(member, flags))
  if (type.isIntersection()) return type.types.some((part) => maybe(part, flags))
  return (type.flags & flags) !== 0
}

export function maybeUndefined(type: ts.Type): boolean {
  return maybe(type, ts.TypeFlags.Undefined | ts.TypeFlags.Void)
}

/** The type of an array's elements; undefined if the type is not always an array. */
export function elementType(checker: ts.TypeChecker, type: ts.Type): ts.Type | undefined {
  const members = type.isUnion() ? type.types : [type]
  if (!members.every((member) => checker.isArrayLikeType(member))) return undefined
  return checker.getIndexTypeOfType(type, ts.IndexKind.Number)
}
