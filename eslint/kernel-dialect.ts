/**
 * Keeps the kernel in the subset of TypeScript that compiles to correct Lua 5.1. Each rule knows one way in which the two
 * languages differ, and each message says what to write instead.
 */
import { absentValues } from './kernel-dialect/absent-values.ts'
import { booleanTests } from './kernel-dialect/boolean-tests.ts'
import { globals } from './kernel-dialect/globals.ts'
import { members } from './kernel-dialect/members.ts'
import { strings } from './kernel-dialect/strings.ts'
import { syntax } from './kernel-dialect/syntax.ts'

export const kernelDialect = {
  meta: { name: 'kernel-dialect' },
  rules: {
    'absent-values': absentValues,
    'boolean-tests': booleanTests,
    globals,
    members,
    strings,
    syntax,
  },
}
