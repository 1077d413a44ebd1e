import { execFileSync } from 'node:child_process'
import { expect, test } from 'vitest'
import { systemRuntime } from '../../runtime/index.ts'
import { createProgram } from '../program.ts'
import { Shell } from '../session/shell.ts'
import { completionScript } from './completion.ts'

const program = createProgram(new Shell(systemRuntime()), false)

/** What bash offers for the last of the words. */
function offeredFor(...words: string[]): string[] {
  const line = words.map((word) => `'${word}'`).join(' ')
  const script = `${completionScript('bash', program)}
COMP_WORDS=(${line}); COMP_CWORD=$((\${#COMP_WORDS[@]} - 1)); _flowfabric; printf '%s\\n' "\${COMPREPLY[@]}"`
  return execFileSync('bash', ['-c', script], { encoding: 'utf8' }).trimEnd().split('\n')
}

test('bash completes commands, inner commands and options', () => {
  expect(offeredFor('flowfabric', 'sub')).toEqual(['submit'])
  expect(offeredFor('flowfabric', 'lanes', 'p')).toEqual(['pause'])
  expect(offeredFor('flowfabric', '--json', 'submit', 'greet', '--dead')).toEqual(['--deadline'])
  expect(offeredFor('flowfabric', 'submit', '--sto')).toEqual(['--store'])
  expect(offeredFor('flowfabric', 'lanes', 'pause', '--rea')).toEqual(['--reason'])
})

test('fish gets a line for every command and option, with its description quoted', () => {
  const lines = completionScript('fish', program).trimEnd().split('\n')

  expect(lines.every((line) => line.startsWith('complete -c flowfabric '))).toBe(true)
  expect(lines.some((line) => line.includes("-n '__fish_use_subcommand' -a submit -d '"))).toBe(true)
  expect(lines.some((line) => line.includes("-n '__fish_seen_subcommand_from submit' -l deadline -r"))).toBe(true)
  for (const line of lines) expect(line.replaceAll("\\'", '').split("'").length % 2).toBe(1)
})
