import { Command } from 'commander'
import { checkPrincipal, invalidInput, show } from '../../../client/index.ts'
import { changeTokenFile, hashOf, mintToken, readTokenFile } from '../../../server/auth/token-file.ts'
import type { StoredToken } from '../../../server/auth/token-file.ts'
import { roles } from '../../../server/auth/principal.ts'
import { dropUndefined } from '../../args/drop-undefined.ts'
import { oneOf } from '../../args/flags.ts'
import { examples } from '../../args/help.ts'
import { namespaceOf } from '../../session/shell.ts'
import type { Shell } from '../../session/shell.ts'
import { TOKENS_FILE_VARIABLE, requireTokensFile } from '../../session/tokens-file.ts'
import { printable } from '../../text/printable.ts'
import { table } from '../../text/table.ts'
import { isoTime } from '../../text/time-text.ts'

interface FileFlag {
  readonly file?: string
}

interface CreateFlags extends FileFlag {
  readonly role: string
}

const FILE_TEXT = `the file of tokens (default: ${TOKENS_FILE_VARIABLE})`

export function tokensCommand(shell: Shell): Command {
  return new Command('tokens')
    .description('the tokens that the HTTP API accepts: create, list, revoke')
    .addCommand(createCommand(shell))
    .addCommand(listCommand(shell))
    .addCommand(revokeCommand(shell))
    .addHelpText('after', examples(['tokens create deploy --role operator', 'tokens list', 'tokens revoke deploy']))
}

function createCommand(shell: Shell): Command {
  return new Command('create')
    .description('make a token and print it; only its hash is stored')
    .argument('<name>', 'who uses it; recorded with what its requests change')
    .requiredOption('--role <role>', `what it permits: ${roles.join(', ')}`)
    .option('--file <path>', FILE_TEXT)
    .addHelpText('after', examples(['tokens create deploy --role operator --file ./flowfabric.tokens']))
    .action(async (given: string, flags: CreateFlags, command: Command) => {
      const configuration = shell.configuration(command, { 'server.tokensFile': flags.file })
      const file = requireTokensFile(configuration)
      const name = checkPrincipal(given, 'name')
      const role = oneOf(roles, flags.role, '--role')
      const namespace = namespaceOf(configuration)
      const token = mintToken()
      const stored: StoredToken = {
        name,
        role,
        sha256: hashOf(token),
        createdAt: shell.runtime.now(),
        ...dropUndefined({ namespace }),
      }
      await changeTokenFile(file, shell.runtime, (tokens = []) => {
        if (tokens.some((present) => present.name === name))
          throw invalidInput('name', `${show(name)} has a token already: revoke it, or choose another name.`)
        return [...tokens, stored]
      })
      const output = shell.output(command)
      await output.answer({ name, role, namespace, token }, () => token)
      output.remark(`This token is shown once. ${printable(file)} has its hash.`)
    })
}

function listCommand(shell: Shell): Command {
  return new Command('list')
    .description('list the tokens, without their texts')
    .option('--file <path>', FILE_TEXT)
    .addHelpText('after', examples(['tokens list --file ./flowfabric.tokens']))
    .action(async (flags: FileFlag, command: Command) => {
      const { tokens } = readTokenFile(
        requireTokensFile(shell.configuration(command, { 'server.tokensFile': flags.file })),
      )
      const items = tokens.map(({ name, role, namespace, createdAt }) => ({ name, role, namespace, createdAt }))
      await shell.output(command).answer({ items }, () => tableOf(items))
    })
}

function revokeCommand(shell: Shell): Command {
  return new Command('revoke')
    .description('remove a token; servers refuse it within a second')
    .argument('<name>', 'its name')
    .option('--file <path>', FILE_TEXT)
    .addHelpText('after', examples(['tokens revoke deploy --file ./flowfabric.tokens']))
    .action(async (name: string, flags: FileFlag, command: Command) => {
      const file = requireTokensFile(shell.configuration(command, { 'server.tokensFile': flags.file }))
      await changeTokenFile(file, shell.runtime, (tokens = readTokenFile(file).tokens) => {
        const rest = tokens.filter((token) => token.name !== name)
        if (rest.length === tokens.length) throw invalidInput('name', `${show(name)} has no token in ${file}.`)
        return rest
      })
      await shell.output(command).answer({ name, kind: 'revoked' }, () => `${printable(name)} revoked`)
    })
}

function tableOf(tokens: readonly Omit<StoredToken, 'sha256'>[]): string {
  const rows = tokens.map(({ name, role, namespace, createdAt }) => [
    printable(name),
    role,
    namespace ?? '(all)',
    isoTime(createdAt),
  ])
  return table([['name', 'role', 'namespace', 'created'], ...rows])
}
