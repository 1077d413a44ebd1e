import { expect, test } from 'vitest'
import { findIdioms } from './check-words.ts'

const IDIOM = ['who', 'ever'].join('')
const PHRASE = ['goes', 'on']

test('finds idioms in comments and strings, with their lines', () => {
  const source = `// ${IDIOM}\nconst text = '${IDIOM} waits'\nconst template = \`${IDIOM} \${text}\`\n`

  expect(findIdioms('a.ts', source)).toEqual([`1: ${IDIOM}`, `2: ${IDIOM}`, `3: ${IDIOM}`])
})

test('leaves names and patterns in code alone', () => {
  expect(findIdioms('a.ts', `const user = '${IDIOM}'`)).toEqual([])
  expect(findIdioms('a.ts', `const ${IDIOM} = { ${IDIOM}: /${IDIOM}/g }`)).toEqual([])
})

test('finds a phrase that is wrapped', () => {
  expect(findIdioms('a.ts', `/**\n * It ${PHRASE.join('\n * ')}.\n */`)).toEqual([`2: ${PHRASE.join(' ')}`])
  expect(findIdioms('a.md', `It ${PHRASE.join('\n')}.`)).toEqual([`1: ${PHRASE.join(' ')}`])
})
