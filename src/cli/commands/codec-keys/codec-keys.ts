/** `flowfabric codec-keys`: the file of keys that encrypt values. Never prints a secret. */
import { Command } from 'commander'
import { changePrivateFile, parsePrivateJson, readPrivateFile } from '../../../client/index.ts'
import type { PrivateFileErrors } from '../../../client/index.ts'
import { dropCodecKey, mintCodecKeys, openCodecKeys, rotateCodecKeys } from '../../../codec/index.ts'
import type { CodecKeysDocument } from '../../../codec/index.ts'
import { EngineError } from '../../../kernel/engine-error.ts'
import { examples } from '../../args/help.ts'
import { printable } from '../../text/printable.ts'
import { table } from '../../text/table.ts'
import { timeText } from '../../text/time-text.ts'
import type { Shell } from '../../session/shell.ts'

const problem = (file: string, text: string) =>
  new EngineError('invalid_configuration', { field: 'file', message: `The file of codec keys ${file} ${text}.` })
const errors: PrivateFileErrors = { missing: problem, unusable: problem }

export function codecKeysCommand(shell: Shell): Command {
  return new Command('codec-keys')
    .description('the keys that encrypt values: create a file, list, rotate, drop')
    .addCommand(createCommand(shell))
    .addCommand(listCommand(shell))
    .addCommand(rotateCommand(shell))
    .addCommand(dropCommand(shell))
    .addHelpText('after', examples(['codec-keys create ./codec-keys.json', 'codec-keys rotate ./codec-keys.json']))
}

function createCommand(shell: Shell): Command {
  return subcommand('create', 'create a file with a first key, which only its owner can read').action(
    async (file: string, _flags: object, command: Command) => {
      const ring = await change(shell, file, (present) => {
        if (present !== undefined) throw problem(file, 'exists already: rotate adds a key')
        return mintCodecKeys(shell.runtime.now())
      })
      const id = currentOf(ring)
      await shell.output(command).answer({ file, id }, () => `${printable(file)} written; ${id} encrypts.`)
      shell.output(command).remark('Keep a copy apart from the store: without it no value can be read any more.')
    },
  )
}

function listCommand(shell: Shell): Command {
  return subcommand('list', 'the keys: which one encrypts; never a secret').action(
    async (file: string, _flags: object, command: Command) => {
      const output = shell.output(command)
      const ring = read(file)
      const current = currentOf(ring)
      const keys = ring.keys.map(({ id, createdAt }) => ({ id, isCurrent: id === current, createdAt }))
      await output.answer({ file, keys }, () => {
        const header = ['KEY', 'CREATED', ''].map((name) => output.style('dim', name))
        const now = shell.runtime.now()
        return table([
          header,
          ...keys.map(({ id, createdAt, isCurrent }) => [id, timeText(createdAt, now), isCurrent ? 'encrypts' : '']),
        ])
      })
    },
  )
}

function rotateCommand(shell: Shell): Command {
  return subcommand('rotate', 'add a key, which encrypts from now on; the others decrypt').action(
    async (file: string, _flags: object, command: Command) => {
      const ring = await change(shell, file, (present) => rotateCodecKeys(present ?? read(file), shell.runtime.now()))
      const id = currentOf(ring)
      await shell.output(command).answer({ file, id }, () => `${id} encrypts from now on.`)
      shell.output(command).remark('Distribute the file: a program without the new key cannot read new values.')
    },
  )
}

function dropCommand(shell: Shell): Command {
  return subcommand('drop', 'remove a key: values that it encrypted cannot be read any more')
    .argument('<key>', "the key's id")
    .action(async (file: string, id: string, _flags: object, command: Command) => {
      await change(shell, file, (present) => dropCodecKey(present ?? read(file), id))
      await shell.output(command).answer({ file, id }, () => `${id} is removed. Its values cannot be read any more.`)
    })
}

function subcommand(name: string, about: string): Command {
  return new Command(name)
    .description(about)
    .argument('<file>', 'the file of keys')
    .addHelpText('after', examples([`codec-keys ${name} ./codec-keys.json${name === 'drop' ? ' c0a1b2c3d4e5f' : ''}`]))
}

function read(file: string): CodecKeysDocument {
  const found = parsePrivateJson(file, readPrivateFile(file, errors).text, errors) as CodecKeysDocument
  openCodecKeys(found)
  return found
}

async function change(
  shell: Shell,
  file: string,
  next: (present: CodecKeysDocument | undefined) => CodecKeysDocument,
): Promise<CodecKeysDocument> {
  return await changePrivateFile(file, shell.runtime, errors, (target) => {
    const result = next(presentAt(target))
    return { text: `${JSON.stringify(result, undefined, 2)}\n`, result }
  })
}

/** Undefined if there is no such file. */
function presentAt(file: string): CodecKeysDocument | undefined {
  const missing = new EngineError('invalid_configuration')
  try {
    return parsePrivateJson(
      file,
      readPrivateFile(file, { ...errors, missing: () => missing }).text,
      errors,
    ) as CodecKeysDocument
  } catch (error) {
    if (error === missing) return undefined
    throw error
  }
}

function currentOf({ keys }: CodecKeysDocument): string {
  return keys.at(-1)?.id ?? ''
}
