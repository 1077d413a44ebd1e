import eslint from '@eslint/js'
import { defineConfig, globalIgnores } from 'eslint/config'
import tseslint from 'typescript-eslint'

const fromRuntime = 'take it from src/runtime, which is passed in, so that tests can control time and randomness.'
const clockMessage = `The clock is an input: ${fromRuntime}`
const timerMessage = `Timers are an input: ${fromRuntime}`
const randomMessage = `Randomness is an input: ${fromRuntime}`

const timers = ['setTimeout', 'setInterval', 'setImmediate']
const randomFunctions = [
  'getRandomValues',
  'randomBytes',
  'randomFill',
  'randomFillSync',
  'randomInt',
  'randomUUID',
  'randomUUIDv7',
  'webcrypto',
]
const cryptoModules = ['crypto', 'node:crypto']
const timerModules = ['timers', 'timers/promises', 'node:timers', 'node:timers/promises']
const clockModules = ['perf_hooks', 'node:perf_hooks']

const relativeJavaScript = {
  regex: '^\\.{1,2}/.*\\.js$',
  message: 'Source files are imported by their own name, with the extension .ts.',
}

const skippedTests = {
  selector:
    'CallExpression > MemberExpression.callee[object.name=/^(describe|it|test)$/][property.name=/^(only|skip|todo)$/]',
  message: 'Every test runs, always.',
}

/** Clock, timers and randomness come from src/runtime alone. */
const inputsOnly = {
  'no-restricted-globals': ['error', ...timers.map((name) => ({ name, message: timerMessage }))],
  'no-restricted-properties': [
    'error',
    { object: 'Date', property: 'now', message: clockMessage },
    { object: 'performance', property: 'now', message: clockMessage },
    { object: 'performance', property: 'timeOrigin', message: clockMessage },
    { object: 'process', property: 'hrtime', message: clockMessage },
    { object: 'process', property: 'uptime', message: clockMessage },
    { object: 'process', property: 'nextTick', message: timerMessage },
    { object: 'AbortSignal', property: 'timeout', message: timerMessage },
    { object: 'Math', property: 'random', message: randomMessage },
    ...randomFunctions.map((property) => ({ object: 'crypto', property, message: randomMessage })),
    ...timers.map((property) => ({ object: 'globalThis', property, message: timerMessage })),
    ...['crypto', 'performance'].map((property) => ({
      object: 'globalThis',
      property,
      message: property === 'crypto' ? randomMessage : clockMessage,
    })),
  ],
  'no-restricted-syntax': [
    'error',
    skippedTests,
    {
      selector: ':matches(NewExpression, CallExpression)[callee.name="Date"][arguments.length=0]',
      message: clockMessage,
    },
  ],
  'no-restricted-imports': [
    'error',
    {
      paths: [
        ...timerModules.map((name) => ({ name, message: timerMessage })),
        ...clockModules.map((name) => ({ name, message: clockMessage })),
        ...cryptoModules.map((name) => ({
          name,
          importNames: ['default', ...randomFunctions],
          message: randomMessage,
        })),
      ],
      patterns: [relativeJavaScript],
    },
  ],
}

const unavailableInKernel = {
  Date: 'The time is tx.now.',
  Promise: 'The kernel is synchronous.',
  queueMicrotask: 'The kernel is synchronous.',
  console: 'Emit an event, or return a result.',
  crypto: 'Ids and hashes are inputs.',
  fetch: 'The kernel does no I/O.',
  globalThis: 'The kernel shares no state.',
  performance: 'The time is tx.now.',
  process: 'Settings are inputs.',
}

/** The kernel is pure, synchronous and deterministic. dependency-cruiser.config.js checks its imports. */
const kernelRules = {
  'no-extend-native': 'error',
  'no-restricted-globals': [
    ...inputsOnly['no-restricted-globals'],
    ...Object.entries(unavailableInKernel).map(([name, message]) => ({ name, message })),
  ],
  'no-restricted-syntax': [
    ...inputsOnly['no-restricted-syntax'],
    { selector: ':function[async=true], AwaitExpression, ImportExpression', message: 'The kernel is synchronous.' },
    {
      selector: ':matches(Program, ExportNamedDeclaration) > VariableDeclaration[kind!="const"]',
      message: 'The kernel keeps no state between operations.',
    },
    {
      selector: 'MemberExpression[property.name=/^(localeCompare|toLocale)/]',
      message: 'The result depends on the machine. Compare with <.',
    },
  ],
}

/** The only files that change the state of a stored record: each owns the states of one type. `copy-record` copies all of them. */
const stateWriters = [
  'src/kernel/lifecycle/phases.ts',
  'src/kernel/lifecycle/flow-phases.ts',
  'src/kernel/lifecycle/close-journal.ts',
  'src/kernel/lifecycle/flows/resolve-edges.ts',
  'src/kernel/model/copy-record.ts',
]

const stateAssignment = {
  selector: 'AssignmentExpression[left.property.name="state"]',
  message: 'A state is changed by the helper that owns the transition, in src/kernel/lifecycle.',
}

export default defineConfig(
  globalIgnores(['dist/', 'coverage/']),
  { linterOptions: { reportUnusedDisableDirectives: 'error', reportUnusedInlineConfigs: 'error' } },
  eslint.configs.recommended,
  tseslint.configs.strictTypeChecked,
  {
    languageOptions: {
      parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname },
    },
    rules: {
      '@typescript-eslint/no-empty-object-type': ['error', { allowInterfaces: 'with-single-extends' }],
      eqeqeq: 'error',
      'no-implicit-coercion': 'error',
      'no-useless-rename': 'error',
      'object-shorthand': 'error',
      'no-restricted-exports': ['error', { restrictDefaultExports: { direct: true, named: true, defaultFrom: true } }],
      'no-restricted-imports': ['error', { patterns: [relativeJavaScript] }],
      'no-restricted-syntax': ['error', skippedTests],
      '@typescript-eslint/consistent-type-exports': 'error',
      '@typescript-eslint/consistent-type-imports': ['error', { fixStyle: 'separate-type-imports' }],
      '@typescript-eslint/no-import-type-side-effects': 'error',
      '@typescript-eslint/switch-exhaustiveness-check': [
        'error',
        { considerDefaultExhaustiveForUnions: true, requireDefaultForNonUnion: true },
      ],
      '@typescript-eslint/no-confusing-void-expression': ['error', { ignoreArrowShorthand: true }],
      '@typescript-eslint/no-unnecessary-condition': [
        'error',
        { allowConstantLoopConditions: 'only-allowed-literals' },
      ],
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true, allowBoolean: true }],
      // The compiler reports unused names, and allows unused parameters with a leading underscore.
      '@typescript-eslint/no-unused-vars': 'off',
      // An implementation of an async interface is async even without an await, so that its errors become rejections.
      '@typescript-eslint/require-await': 'off',
      // A type parameter that appears once can still be useful, as in get<T>(type: T).
      '@typescript-eslint/no-unnecessary-type-parameters': 'off',
    },
  },
  {
    files: ['src/**/*.ts'],
    ignores: ['src/runtime/**'],
    rules: inputsOnly,
  },
  {
    files: ['src/**/*.ts'],
    ignores: ['src/cli/**', '**/*.test.ts'],
    rules: { 'no-console': 'error' },
  },
  {
    files: ['src/kernel/**/*.ts'],
    ignores: ['**/*.test.ts', '**/*.fixture.ts'],
    rules: kernelRules,
  },
  {
    files: ['src/kernel/**/*.ts'],
    ignores: ['**/*.test.ts', '**/*.fixture.ts', ...stateWriters],
    rules: { 'no-restricted-syntax': [...kernelRules['no-restricted-syntax'], stateAssignment] },
  },
  {
    files: ['**/*.test.ts', 'test/**/*.ts'],
    rules: { '@typescript-eslint/no-non-null-assertion': 'off' },
  },
  {
    // Their loaders ask for a default export.
    files: ['**/*.config.{js,ts}', 'test/mutation/runner.ts', 'scripts/suite-reporter.ts'],
    rules: { 'no-restricted-exports': 'off' },
  },
  {
    files: ['**/*.{js,cjs,mjs}'],
    extends: [tseslint.configs.disableTypeChecked],
    languageOptions: { globals: { module: 'readonly' } },
  },
)
